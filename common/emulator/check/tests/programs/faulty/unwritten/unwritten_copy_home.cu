// The kernel computes 90 of 100 results, but the host copies all 100.
__global__ void squares(int* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = i * i;
}

int main() {
  int *y, host[100];
  cudaMalloc(&y, sizeof host);  // finding: allocated
  squares<<<1, 128>>>(y, 90);
  // finding: unwritten_copy called bytes=400 offset=360
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(y);
}
