// Every block waits for the last block, which has no room until another block ends.
__device__ volatile int ready;

__global__ void meet() {
  if (threadIdx.x == 0) {
    if (blockIdx.x == gridDim.x - 1) ready = 1;
    while (ready == 0) {  // finding: endless poll object=ready says=have_not_begun
    }
  }
  __syncthreads();  // finding: wait
}

int main() {
  meet<<<1000, 1024>>>();
  cudaDeviceSynchronize();
}
