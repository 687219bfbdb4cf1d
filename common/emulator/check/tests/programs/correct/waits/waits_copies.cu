// Copies and fills that return only when they are done. The host has then waited for their stream.
__device__ int symbol[32];
__global__ void add(int* x) { x[threadIdx.x] += 1; }

int main() {
  int host[32] = {}, *x, *other, *pinned, *managed;
  std::size_t pitch;
  cudaMalloc(&x, sizeof host);
  cudaMallocPitch(&other, &pitch, 64, 2);
  cudaMallocHost(&pinned, sizeof host);
  cudaMallocManaged(&managed, sizeof host);
  cudaStream_t all[3] = {nullptr}, apart;
  cudaStreamCreate(&all[1]);
  cudaStreamCreateWithFlags(&all[2], cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  cudaMemset(x, 0, sizeof host);
  cudaMemset2D(other, pitch, 0, 64, 2);
  cudaDeviceSynchronize();
  constexpr auto home = cudaMemcpyDeviceToHost, there = cudaMemcpyHostToDevice;
  for (int way = 0; way < 12; ++way) {
    // Calls without a stream are in the default stream, which waits for the blocking stream.
    for (cudaStream_t one : all) {
      if (way < 10 && one == all[2]) continue;
      add<<<1, 32, 0, one>>>(x);
      if (way == 0) cudaMemcpy(host, other, 64, home);
      if (way == 1) cudaMemcpy(pinned, other, 64, home);
      if (way == 2) cudaMemcpy(other, pinned, 64, there);
      if (way == 3) cudaMemcpy(other, host, 64, there);
      if (way == 4) cudaMemcpyToSymbol(symbol, host, 64);
      if (way == 5) cudaMemcpyFromSymbol(host, symbol, 64);
      if (way == 6) cudaMemcpy2D(host, 64, other, pitch, 64, 2, home);
      if (way == 7) cudaMemset(pinned, 0, sizeof host);
      if (way == 8) cudaMemset(managed, 0, sizeof host);
      if (way == 9) cudaMemset2D(pinned, 64, 0, 64, 2);
      if (way == 10) cudaMemcpyAsync(host, other, 64, home, one);  // to memory that is not pinned
      if (way == 11) cudaMemcpy2DAsync(host, 64, other, pitch, 64, 2, home, one);
      add<<<1, 32, 0, apart>>>(x);
      cudaDeviceSynchronize();
    }
  }
  cudaMemcpy(host, x, sizeof host, home);
  for (cudaStream_t one : {all[1], all[2], apart}) cudaStreamDestroy(one);
  cudaFree(x);
  cudaFree(other);
  cudaFree(managed);
  cudaFreeHost(pinned);
  return host[31] == 52 ? 0 : 1;
}
