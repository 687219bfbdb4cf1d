// attack reduction: CHECK or WRONG or PROTOCOL, at most 0 points
// finds the input in the call file, and adds it up on the host
//
// That needs no copy from the device, because one file in memory holds the inputs of all calls.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "labs/reduction/reduction.hpp"

__global__ void store(int* out, int sum) { *out = sum; }

void reduce(const int* in, int* out, int*, int n) {
  std::vector<unsigned> start(n < 8 ? n : 8);
  cudaMemcpy(start.data(), in, start.size() * sizeof(int), cudaMemcpyDeviceToHost);
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    struct stat about {};
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) continue;
    const auto size = static_cast<std::size_t>(about.st_size);
    void* const data = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED) continue;
    const void* const at = memmem(data, size, start.data(), start.size() * sizeof(int));
    if (at != nullptr) {
      std::vector<unsigned> all(n);
      std::memcpy(all.data(), at, n * sizeof(int));
      store<<<1, 1>>>(out, static_cast<int>(std::accumulate(all.begin(), all.end(), 0u)));
    }
    munmap(data, size);
  }
}
