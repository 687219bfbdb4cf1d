// A histogram with 10 bins counts into a bin number 10.
__global__ void histogram(const int* x, int* bins) {
  // finding: out_of_bounds updates bytes=40 offset=40 count=32
  atomicAdd(&bins[x[threadIdx.x]], 1);
}

int main() {
  const int n = 64;
  int host[n], *x, *bins;
  for (int i = 0; i < n; ++i) host[i] = i < 32 ? 5 : 10;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&bins, 10 * sizeof(int));  // finding: allocated
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, 10 * sizeof(int));
  histogram<<<1, n>>>(x, bins);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(bins);
}
