// A spin lock in shared memory, for which lanes of one warp and other warps compete.
__global__ void count(int* out) {
  __shared__ int lock, total;
  if (threadIdx.x == 0) lock = total = 0;
  __syncthreads();
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      __threadfence_block();
      total = total + 1;
      __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = total;
}

int main() {
  int *out, total = 0;
  cudaMalloc(&out, sizeof(int));
  count<<<1, 64>>>(out);
  cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(out);
  return total == 64 ? 0 : 1;
}
