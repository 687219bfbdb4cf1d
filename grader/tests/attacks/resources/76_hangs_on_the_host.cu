// attack reduction: TIMEOUT, at most 0 points
// never returns, and ignores every signal that can be ignored
#include <signal.h>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
  for (volatile int i = 0;; i = i + 1) {
  }
}
