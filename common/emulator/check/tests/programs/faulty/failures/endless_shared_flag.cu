// One warp waits for a flag in shared memory, and the other waits for the whole block.
__global__ void hand_over(int* out) {
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    while (ready == 0) {  // finding: endless poll object=ready says=never_ends
    }
  }
  __syncthreads();  // finding: wait
  if (threadIdx.x == 32) ready = 1;
  out[threadIdx.x] = 1;
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  hand_over<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
