// A grid-wide barrier in a launch that is not cooperative.
#include <cooperative_groups.h>

__global__ void turn(int* out) {
  out[blockIdx.x] = 1;
  // finding: failed says=grid.sync()_needs_cudaLaunchCooperativeKernel
  cooperative_groups::this_grid().sync();
}

int main() {
  int* out;
  cudaMalloc(&out, 4 * sizeof(int));
  turn<<<4, 1>>>(out);  // finding: called
  cudaDeviceSynchronize();
  cudaFree(out);
}
