// One warp does a reduction's last levels, as in old slides, but its lanes need not run in step.
__global__ void sum(const int* x, int* out) {
  __shared__ int partial[64];
  const int i = threadIdx.x;
  partial[i] = x[i];
  __syncthreads();
  if (i < 32) {
    partial[i] += partial[i + 32];              // finding: race writes object=partial
    if (i < 16) partial[i] += partial[i + 16];  // finding: race reads
    __syncwarp();
    if (i < 8) partial[i] += partial[i + 8];
  }
  if (i == 0) *out = partial[0];
}

int main() {
  int *x, *out;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  sum<<<1, 64>>>(x, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
}
