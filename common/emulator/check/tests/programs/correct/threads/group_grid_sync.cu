// grid.sync() orders the phases of a cooperative launch: blocks read the words of other blocks.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void rounds(int* x, int* y) {
  const auto grid = cg::this_grid();
  const int i = grid.thread_rank(), n = grid.size();
  for (int k = 0; k < 3; ++k) {
    x[i] = k == 0 ? i : y[i];
    grid.sync();
    y[i] = x[n - 1 - i] + 1;
    grid.sync();
  }
}

int main() {
  int host[192], *x, *y;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  void* arguments[] = {&x, &y};
  cudaLaunchCooperativeKernel(rounds, 3, 64, arguments, 0, nullptr);
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  return host[0] == 194 && host[191] == 3 ? 0 : 1;
}
