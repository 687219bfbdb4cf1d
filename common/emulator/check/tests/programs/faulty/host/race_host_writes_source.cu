// The host refills a buffer that an asynchronous copy and a kernel still read.
__global__ void sum(const int* x, int* total) {
  atomicAdd(total, x[threadIdx.x]);  // finding 2: reads
}

int main() {
  int *device, *pinned, *managed;
  cudaMalloc(&device, 1 << 20);
  cudaMallocHost(&pinned, 1 << 20);  // finding 1: allocated
  cudaMallocManaged(&managed, 128);  // finding 2: allocated
  for (int i = 0; i < 1 << 18; ++i) pinned[i] = i;
  for (int i = 0; i < 32; ++i) managed[i] = i;
  // finding 1: unfinished
  cudaMemcpyAsync(device, pinned, 1 << 20, cudaMemcpyHostToDevice);
  for (int i = 0; i < 1 << 18; ++i)
    pinned[i] = 2 * i;  // finding 1: race called says=the_host_writes_memory
  cudaDeviceSynchronize();
  sum<<<1, 32>>>(managed, device);  // finding 2: unfinished
  const bool right = managed[5] == 5;
  managed[5] = 0;  // finding 2: race called offset=20
  cudaDeviceSynchronize();
  cudaFree(device);
  cudaFree(managed);
  cudaFreeHost(pinned);
  return right ? 0 : 1;
}
