// A spin lock between blocks and between the lanes of a warp, with fences.
__device__ int lock;

__global__ void add(int* total) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      __threadfence();
      *total += 1;
      __threadfence();
      atomicExch(&lock, 0);
      done = true;
    }
  }
}

int main() {
  int *total, host = 0;
  cudaMalloc(&total, sizeof(int));
  cudaMemset(total, 0, sizeof(int));
  add<<<3, 32>>>(total);
  cudaMemcpy(&host, total, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(total);
  return host == 96 ? 0 : 1;
}
