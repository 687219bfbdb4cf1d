// The copy to the host runs in a different stream than the kernel that produces the results.
__global__ void produce(int* x) {
  x[threadIdx.x] = 1;  // finding: race writes
}

int main() {
  int *x, *host;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaMallocHost(&host, 32 * sizeof(int));
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  produce<<<1, 32, 0, a>>>(x);
  // finding: race called host
  cudaMemcpyAsync(host, x, 32 * sizeof(int), cudaMemcpyDeviceToHost, b);
  cudaDeviceSynchronize();
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
  cudaFreeHost(host);
}
