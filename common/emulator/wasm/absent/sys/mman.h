// The functions of mmap's family, as far as one linear memory supports them: fresh zeroed bytes,
// and zeroing bytes again.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>
#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 16
#define MAP_ANONYMOUS 32
#define MAP_NORESERVE 0x4000
#define MAP_FIXED_NOREPLACE 0x100000
#define MAP_FAILED ((void*)-1)
#define MADV_DONTNEED 4
#define MADV_HUGEPAGE 14
#define MREMAP_MAYMOVE 1
#define MREMAP_FIXED 2
inline void* mmap(void*, std::size_t bytes, int, int flags, int, long) {
  if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_SHARED)) return MAP_FAILED;
  const std::size_t page = __builtin_wasm_memory_grow(0, (bytes + 65535) / 65536);
  return page == std::size_t(-1) ? MAP_FAILED : reinterpret_cast<void*>(page * 65536);
}
inline int munmap(void*, std::size_t) { return 0; }
inline int mprotect(void*, std::size_t, int) { return 0; }
inline int madvise(void* p, std::size_t bytes, int what) {
  if (what == MADV_DONTNEED) std::memset(p, 0, bytes);
  return 0;
}
template <class... A>
void* mremap(void*, std::size_t, std::size_t, int, A...) {
  return MAP_FAILED;
}
