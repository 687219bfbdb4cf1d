// Every block waits for the last block. That block can begin because all warps of the earlier
// blocks except the waiting ones have exited.
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
