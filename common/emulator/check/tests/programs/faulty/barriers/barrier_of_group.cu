// A block's barrier through cooperative groups, in a branch that half of each warp takes.
#include <cooperative_groups.h>

__global__ void half(int* x) {
  const auto block = cooperative_groups::this_thread_block();
  const int i = threadIdx.x;
  x[i] = 1;
  if (i % 32 < 16) {  // finding: goes says=inside_the_condition_at_line_8
    block.sync();     // finding: exited_at_barrier waits
    x[i] = 2;
  }
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  half<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
