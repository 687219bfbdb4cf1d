// attack reduction: MEMORY or CRASH, at most 0 points
// takes 8 GiB of memory of its own
#include <cstdlib>
#include <cstring>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  for (int i = 0; i < 128; ++i) {
    char* const block = new char[64 << 20];
    std::memset(block, i + 1, 64 << 20);
  }
}
