// Only half of the buffer is ever written, and only that half is copied to the host.
__global__ void squares(int* y) { y[threadIdx.x] = threadIdx.x * threadIdx.x; }

int main() {
  int host[32], *y;
  cudaMalloc(&y, 64 * sizeof(int));
  squares<<<1, 32>>>(y);
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(y);
  return host[31] == 961 ? 0 : 1;
}
