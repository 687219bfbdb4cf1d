// Fat binaries for a page are not compressed. These stubs of two libraries always fail to unpack.
#include <cstddef>

extern "C" {
int LZ4_decompress_safe(const char*, char*, int, int) { return -1; }
unsigned long long ZSTD_getFrameContentSize(const void*, std::size_t) { return 0ULL - 2; }
std::size_t ZSTD_decompress(void*, std::size_t, const void*, std::size_t) {
  return std::size_t(0) - 1;
}
unsigned ZSTD_isError(std::size_t) { return 1; }
const char* ZSTD_getErrorName(std::size_t) { return "a page does not unpack fat binaries"; }
}
