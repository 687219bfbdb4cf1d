// attack reduction: WRONG or CRASH or PROTOCOL or MEMORY, at most 0 points
// starts processes that start processes
//
// There are at most 200 of them, for 20 seconds.
#include <unistd.h>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  for (int i = 0; i < 200; ++i) {
    if (fork() == 0) {
      setsid();
      sleep(20);
      _exit(0);
    }
  }
}
