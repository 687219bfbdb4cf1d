// attack reduction: TIMEOUT or PROTOCOL or CRASH, at most 0 points
// stops itself and every process that it can see, and closes its descriptors
#include <signal.h>
#include <unistd.h>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  kill(-1, SIGSTOP);
  kill(1, SIGKILL);
  for (int descriptor = 0; descriptor < 256; ++descriptor) close(descriptor);
  raise(SIGSTOP);
}
