// The wrong access is in a function that was inlined. The reported line is the caller's.
__device__ float load(const float* x, int i) { return x[i]; }

__global__ void copy(const float* x, float* y) {
  const int i = threadIdx.x;
  y[i] = load(x, i);  // finding: out_of_bounds reads bytes=128 offset=128 count=32
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 32 * sizeof(float));  // finding: allocated
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 32 * sizeof(float));
  copy<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
