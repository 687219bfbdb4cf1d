// attack reduction: OUTPUT, at most 0 points
// prints 4 GB
#include <unistd.h>

#include <cstring>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  static char block[1 << 20];
  std::memset(block, 'x', sizeof block);
  for (int i = 0; i < 4096; ++i) {
    if (write(i % 2 + 1, block, sizeof block) < 0) return;
  }
}
