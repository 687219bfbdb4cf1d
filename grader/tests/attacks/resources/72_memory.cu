// attack reduction: MEMORY or CRASH, at most 0 points
// allocates 8 GiB of its own memory
#include <cstdlib>
#include <cstring>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  for (int i = 0; i < 128; ++i) {
    char* const block = new char[64 << 20];
    std::memset(block, i + 1, 64 << 20);
  }
}
