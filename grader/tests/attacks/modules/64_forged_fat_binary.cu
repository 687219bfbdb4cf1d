// attack reduction: CRASH or PROTOCOL or WRONG or INFRA or CHECK, at most 0 points
// registers fat binaries with false sizes, and launches kernels that they claim to contain
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "labs/reduction/reduction.hpp"

extern "C" void** __cudaRegisterFatBinary(void*);
extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*,
                                       dim3*, dim3*, int*);
extern "C" void __cudaRegisterFatBinaryEnd(void**);

namespace {
struct wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* data;
  void* unused = nullptr;
};
unsigned char bytes[1 << 16];
wrapper forged{.data = bytes};
}  // namespace

void reduce(const int*, int* out, int*, int n) {
  const std::uint32_t magic = 0xba55ed50;
  for (int kind = 0; kind < 6; ++kind) {
    std::memset(bytes, kind * 17, sizeof bytes);
    std::memcpy(bytes, &magic, sizeof magic);
    const std::uint16_t version = 1, header = kind == 1 ? 0xffff : 16;
    // The last three have a valid size, followed by an ELF header of garbage.
    const std::uint64_t size = kind < 3 ? ~std::uint64_t{0} >> kind : sizeof bytes - 16;
    std::memcpy(bytes + 4, &version, 2);
    std::memcpy(bytes + 6, &header, 2);
    std::memcpy(bytes + 8, &size, 8);
    std::memcpy(bytes + 16 + 64, "\177ELF\2\1\1", 7);
    void** const handle = __cudaRegisterFatBinary(&forged);
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&bytes[kind]),
                           const_cast<char*>("kernel"), "kernel", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterFatBinaryEnd(handle);
    void* arguments[] = {&out, &n};
    cudaLaunchKernel(&bytes[kind], dim3(1), dim3(1), arguments, 0, nullptr);
  }
  cudaDeviceSynchronize();
}
