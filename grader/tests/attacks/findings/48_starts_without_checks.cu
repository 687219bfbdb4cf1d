// attack reduction: CHECK or WRONG or PROTOCOL, at most 30 points
// has a race, and restarts itself without the checks
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>

#include "labs/reduction/reduction.hpp"

extern char** environ;

__attribute__((constructor)) static void start_again(int, char** arguments, char**) {
  if (std::getenv("STEPWISE_CHECK") == nullptr) return;
  unsetenv("STEPWISE_CHECK");
  unsetenv("STEPWISE_FINDINGS");
  execve(reinterpret_cast<const char*>(getauxval(AT_EXECFN)), arguments, environ);
}

__global__ void add_up(const int* in, int* out, int n) {
  __shared__ int last;
  last = threadIdx.x;
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  if (last >= 0) *out = sum;
}

void reduce(const int* in, int* out, int*, int n) { add_up<<<1, 64>>>(in, out, n); }
