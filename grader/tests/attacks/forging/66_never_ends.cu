// attack reduction: SLOW or PASS or TIMEOUT or CHECK, at most 60 points
// adds honestly, but does not end: a destructor waits, ignores signals and leaves a process
//
// This lasts 20 seconds.
#include <signal.h>
#include <unistd.h>

#include "labs/reduction/reduction.hpp"

struct waits {
  ~waits() {
    for (int number = 1; number < 32; ++number) signal(number, SIG_IGN);
    if (fork() == 0) {
      setsid();
      if (fork() == 0) sleep(20);
      _exit(0);
    }
    sleep(20);
  }
} at_the_end;

__global__ void add_up(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}

void reduce(const int* in, int* out, int*, int n) { add_up<<<1, 1>>>(in, out, n); }
