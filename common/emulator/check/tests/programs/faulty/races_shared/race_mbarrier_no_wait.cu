// Every thread arrives at the barrier object, but none waits for it.
#include <cuda/barrier>

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void reverse(int* x) {
  __shared__ int line[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ block_barrier meeting;
  const int i = threadIdx.x;
  if (i == 0) init(&meeting, 64);
  __syncthreads();
  line[i] = x[i];  // finding: race writes object=line
  auto token = meeting.arrive();
  x[i] = line[63 - i];  // finding: race reads
  meeting.wait(std::move(token));
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  reverse<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
