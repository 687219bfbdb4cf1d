// attack reduction: MEMORY or WRONG or TIMEOUT, at most 0 points
// allocates 8 GiB of shared memory, which the limits of a process do not count
//
// On a machine with ten programs per core, its time limit ends before its memory limit.
#include <sys/mman.h>

#include <cstring>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  constexpr std::size_t bytes = 64 << 20;
  for (int i = 0; i < 128; ++i) {
    void* const block =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return;
    std::memset(block, i + 1, bytes);
  }
}
