// A histogram without atomics.
__global__ void histogram(const int* x, int* bins) {
  ++bins[x[blockIdx.x * blockDim.x + threadIdx.x]];  // finding: race any any says=use_atomicAdd()
}

int main() {
  int host[128], *x, *bins;
  for (int i = 0; i < 128; ++i) host[i] = i % 10;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&bins, 10 * sizeof(int));  // finding: allocated
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, 10 * sizeof(int));
  histogram<<<2, 64>>>(x, bins);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(bins);
}
