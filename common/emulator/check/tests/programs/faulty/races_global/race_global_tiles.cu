// Blocks write tiles that overlap by one element. Each block counts its tiles in its own volatile
// variable, which cannot order the blocks.
__global__ void fill(int* x, int tiles) {
  __shared__ volatile int tile;
  if (threadIdx.x == 0) tile = 0;
  __syncthreads();
  while (tile < tiles) {
    // finding: race writes writes says=check_the_index
    x[(blockIdx.x * tiles + tile) * 32 + threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) tile = tile + 1;
    __syncthreads();
  }
}

int main() {
  int* x;
  cudaMalloc(&x, 129 * sizeof(int));  // finding: allocated
  fill<<<2, 33>>>(x, 2);
  cudaDeviceSynchronize();
  cudaFree(x);
}
