// A table is read repeatedly. One warp refills its half while the other may still read it.
__global__ void look_up(int* x, int n) {
  __shared__ int table[64];
  const int i = threadIdx.x;
  table[i] = x[i];
  __syncthreads();
  int sum = 0;
  if (i >= 32) {
    for (int k = 0; k < 100; ++k) sum += table[i * k % 32];  // finding: race reads object=table
  }
  for (int k = 0; k < n; ++k) sum += table[32 + k % 32];
  if (i < 32) table[i] = sum;  // finding: race writes
  __syncthreads();
  x[i] = table[i] + sum;
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  look_up<<<1, 64>>>(x, 5000);
  cudaDeviceSynchronize();
  cudaFree(x);
}
