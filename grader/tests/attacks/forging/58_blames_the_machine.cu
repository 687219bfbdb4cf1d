// attack reduction: PROTOCOL or CRASH, at most 0 points
// ends as the runner does where there is no device, so that the machine is blamed and it is excused
#include <unistd.h>

#include <cstdio>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  std::fputs("runner: cannot use a CUDA device: there is no CUDA device\n", stderr);
  _exit(3);
}
