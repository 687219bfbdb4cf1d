// Only threads with an element write to shared memory, but the sum is over the whole block.
__global__ void sum(const int* x, int* out, int n) {
  __shared__ int line[64];
  const int i = threadIdx.x;
  if (i < n) line[i] = x[i];
  __syncthreads();
  if (i == 0) {
    int total = 0;
    // finding: unwritten_read reads object=line bytes=256 offset=200 count=14
    for (int k = 0; k < 64; ++k) total += line[k];
    *out = total;
  }
}

int main() {
  int *x, *out;
  cudaMalloc(&x, 50 * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(x, 0, 50 * sizeof(int));
  sum<<<1, 64>>>(x, out, 50);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
}
