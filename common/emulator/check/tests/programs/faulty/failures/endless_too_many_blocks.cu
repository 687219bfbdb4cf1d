// Every block waits for the last block, which has no room until another block ends.
__device__ volatile int ready;

__global__ void meet() {
  if (blockIdx.x == gridDim.x - 1) ready = 1;
  while (ready == 0) {  // finding: endless poll object=ready says=have_not_begun
  }
}

int main() {
  meet<<<5000, 32>>>();
  cudaDeviceSynchronize();
  return 0;
}
