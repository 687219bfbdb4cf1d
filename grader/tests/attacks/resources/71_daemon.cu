// attack reduction: WRONG or PROTOCOL, at most 0 points
// leaves a process behind that keeps the pipes open
//
// It lives for 30 seconds.
#include <unistd.h>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  if (fork() != 0) return;
  setsid();
  if (fork() == 0) sleep(30);
  _exit(0);
}
