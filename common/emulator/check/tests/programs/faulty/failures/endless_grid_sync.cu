// One block exits without reaching the grid's barrier.
#include <cooperative_groups.h>

__global__ void meet(int* out) {
  if (blockIdx.x == 3) return;
  if (threadIdx.x == 0) out[blockIdx.x] = 1;
  // finding: endless poll says=Every_thread_of_every_block
  cooperative_groups::this_grid().sync();  // finding: wait
}

int main() {
  int* out;
  cudaMalloc(&out, 4 * sizeof(int));
  void* arguments[] = {&out};
  cudaLaunchCooperativeKernel(meet, 4, 64, arguments);
  cudaDeviceSynchronize();
  cudaFree(out);
}
