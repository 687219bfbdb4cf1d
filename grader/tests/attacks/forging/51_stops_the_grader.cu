// attack reduction: WRONG, at most 0 points
// stops and kills its parent, which would be the grader
#include <signal.h>
#include <unistd.h>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  // Only its parent, which is the grader's process that it could reach by its number.
  const pid_t parent = getppid();
  for (const int what : {SIGSTOP, SIGKILL}) {
    if (parent > 1) kill(parent, what);
  }
}
