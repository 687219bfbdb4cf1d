// A stencil without a guard at its left end reads element -1.
__global__ void smooth(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  const float right = i + 1 < n ? x[i + 1] : 0;
  y[i] = x[i - 1] + right;  // finding: out_of_bounds reads bytes=256 offset=-4 count=1
}

int main() {
  const int n = 64;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));  // finding: allocated
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  smooth<<<1, n>>>(x, y, n);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
