// Pinned, mapped host memory, used by copies and directly by a kernel.
__global__ void add(const int* mapped, int* x) { x[threadIdx.x] += mapped[threadIdx.x]; }

int main() {
  int *host, *seen, *x;
  cudaHostAlloc(&host, 64 * sizeof(int), cudaHostAllocMapped);
  cudaHostGetDevicePointer(&seen, host, 0);
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMemcpyAsync(x, host, 64 * sizeof(int), cudaMemcpyHostToDevice);
  add<<<1, 64>>>(seen, x);
  cudaMemcpyAsync(host, x, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaStreamSynchronize(nullptr);
  const bool right = host[63] == 126;
  cudaFree(x);
  cudaFreeHost(host);
  return right ? 0 : 1;
}
