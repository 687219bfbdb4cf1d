// One shared variable for two sums: the second is written before all threads read the first.
__global__ void sums(const int* x, int* out) {
  __shared__ int total;
  const int i = threadIdx.x;
  int mine = 0;
  for (int k = 0; k < 2; ++k) {
    if (i == 0) total = x[k];  // finding: race writes object=total
    __syncthreads();
    mine += total;  // finding: race reads
  }
  out[i] = mine;
}

int main() {
  int *x, *out;
  cudaMalloc(&x, 2 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(x, 0, 2 * sizeof(int));
  sums<<<1, 64>>>(x, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
}
