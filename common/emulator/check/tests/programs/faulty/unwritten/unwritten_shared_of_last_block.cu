// Shared memory does not keep its values from one block to the next.
__global__ void share(int* out, int by) {
  __shared__ int factor;
  if (blockIdx.x == 0 && threadIdx.x == 0) factor = by;
  __syncthreads();
  // finding: unwritten_read reads object=factor bytes=4 offset=0 count=96
  out[blockIdx.x * blockDim.x + threadIdx.x] = factor;
}

int main() {
  int* out;
  cudaMalloc(&out, 4 * 32 * sizeof(int));
  share<<<4, 32>>>(out, 3);
  cudaDeviceSynchronize();
  cudaFree(out);
}
