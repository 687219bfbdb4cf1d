// attack reduction: PROTOCOL or CRASH, at most 0 points
// ends like the runner on a machine without a device, so that the machine is blamed
#include <unistd.h>

#include <cstdio>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  std::fputs("runner: cannot use a CUDA device: there is no CUDA device\n", stderr);
  _exit(3);
}
