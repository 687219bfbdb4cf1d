// grid.sync() in two halves, the first in its own function, in a launch that is not cooperative.
#include <cooperative_groups.h>

#include <utility>

namespace cg = cooperative_groups;

__device__ __noinline__ cg::grid_group::arrival_token arrive(cg::grid_group grid) {
  // finding: failed says=grid.sync()_needs_cudaLaunchCooperativeKernel
  return grid.barrier_arrive();
}

__global__ void turn(int* out) {
  auto grid = cg::this_grid();
  auto token = arrive(grid);
  out[blockIdx.x] = 1;
  grid.barrier_wait(std::move(token));
}

int main() {
  int* out;
  cudaMalloc(&out, 4 * sizeof(int));
  turn<<<4, 1>>>(out);  // finding: called
  cudaDeviceSynchronize();
  cudaFree(out);
}
