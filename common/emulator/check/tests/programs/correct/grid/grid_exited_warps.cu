// Every block waits for the last block, which begins because the other warps have exited.
__device__ volatile int ready;

__global__ void meet() {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == gridDim.x - 1) ready = 1;
  while (ready == 0) {
  }
}

int main() {
  meet<<<1000, 1024>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
