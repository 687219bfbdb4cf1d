// attack reduction: CHECK or WRONG or PROTOCOL, at most 30 points
// has a race, and restarts itself without the checks
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "labs/reduction/reduction.hpp"

extern char** environ;

struct again {
  again() {
    if (std::getenv("STEPWISE_CHECK") == nullptr) return;
    unsetenv("STEPWISE_CHECK");
    unsetenv("STEPWISE_FINDINGS");
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::string words((std::istreambuf_iterator<char>(file)), {});
    std::vector<char*> arguments;
    for (std::size_t at = 0; at < words.size(); at = words.find('\0', at) + 1)
      arguments.push_back(words.data() + at);
    arguments.push_back(nullptr);
    execve("/proc/self/exe", arguments.data(), environ);
  }
} now;

__global__ void add_up(const int* in, int* out, int n) {
  __shared__ int last;
  last = threadIdx.x;
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  if (last >= 0) *out = sum;
}

void reduce(const int* in, int* out, int*, int n) { add_up<<<1, 64>>>(in, out, n); }
