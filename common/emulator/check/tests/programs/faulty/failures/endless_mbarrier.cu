// The barrier object expects one thread more than the block has.
#include <cuda/barrier>

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void wait(int* x) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ block_barrier meeting;
  if (threadIdx.x == 0) init(&meeting, 65);
  __syncthreads();
  meeting.arrive_and_wait();  // finding: endless poll arrivals
  x[threadIdx.x] = 1;
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  wait<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
