// grid.sync(): a cooperative launch whose blocks all wait for each other, several times, and pass
// values through global memory.
#include <cooperative_groups.h>

#include "common/emulator/tests/programs/program.hpp"

namespace cg = cooperative_groups;

// Each round every block adds up what all blocks wrote in the round before.
__global__ void rounds(long long* values, long long* next, int count) {
  const cg::grid_group grid = cg::this_grid();
  for (int k = 0; k < count; ++k) {
    if (threadIdx.x == 0) {
      long long sum = 0;
      for (unsigned b = 0; b < gridDim.x; ++b) sum += values[b];
      next[blockIdx.x] = sum % 1000003 + blockIdx.x;
    }
    grid.sync();
    if (threadIdx.x == 0) values[blockIdx.x] = next[blockIdx.x];
    grid.sync();
  }
  if (grid.thread_rank() == 0) values[gridDim.x] = static_cast<long long>(grid.is_valid());
}

int main() {
  const int blocks = 24, count = 9;
  device_array<long long> values(std::vector<long long>(blocks + 1, 1)), next(blocks);
  long long *v = values.get(), *w = next.get();
  int c = count;
  void* arguments[] = {&v, &w, &c};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(rounds), blocks, 64, arguments, 0, 0));
  finish();
  std::vector<long long> want(blocks, 1);
  for (int k = 0; k < count; ++k) {
    long long sum = 0;
    for (const long long x : want) sum += x;
    for (int b = 0; b < blocks; ++b) want[b] = sum % 1000003 + b;
  }
  want.push_back(1);
  return compare("grid.sync", values.values(), want);
}
