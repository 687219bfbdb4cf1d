// Memory is freed and allocated again. cudaFree waits for all work, and a pool passes memory from
// one stream to another only in stream order.
__global__ void add(int* x) { x[threadIdx.x] += 1; }
__global__ void fill(int* x) { x[threadIdx.x] = 1; }

int main() {
  int host[32], *x, *scratch, *pinned;
  cudaMalloc(&x, sizeof host);
  cudaStream_t all[4] = {nullptr, cudaStreamPerThread};
  cudaStreamCreate(&all[2]);
  cudaStreamCreateWithFlags(&all[3], cudaStreamNonBlocking);
  cudaMemset(x, 0, sizeof host);
  cudaDeviceSynchronize();
  for (cudaStream_t one : all) {
    for (cudaStream_t other : all) {
      cudaMalloc(&scratch, sizeof host);
      add<<<1, 32, 0, one>>>(x);
      cudaFree(scratch);
      add<<<1, 32, 0, other>>>(x);
      cudaMallocHost(&pinned, sizeof host);
      cudaFreeHost(pinned);
      add<<<1, 32, 0, one>>>(x);
      cudaDeviceSynchronize();
    }
  }
  // Enough rounds that the emulator reuses freed memory.
  for (int round = 0; round < 200; ++round) {
    cudaStream_t s = all[2 + round % 2];
    cudaMallocAsync(&scratch, sizeof host, s);
    fill<<<1, 32, 0, s>>>(scratch);
    cudaMemcpyAsync(scratch, x, 64, cudaMemcpyDeviceToDevice, s);
    cudaFreeAsync(scratch, s);
  }
  cudaDeviceSynchronize();
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaStreamDestroy(all[2]);
  cudaStreamDestroy(all[3]);
  cudaFree(x);
  return host[31] == 48 ? 0 : 1;
}
