// Whole blocks wait for a flag that no block sets: one thread polls, and a barrier passes its
// answer to the others.
__device__ volatile int ready;

__global__ void meet() {
  __shared__ int seen;
  do {
    __syncthreads();
    // finding: endless poll object=ready says=never_ends
    if (threadIdx.x == 0) seen = ready;
    __syncthreads();  // finding: wait
  } while (seen == 0);
}

int main() {
  meet<<<4, 64>>>();
  cudaDeviceSynchronize();
}
