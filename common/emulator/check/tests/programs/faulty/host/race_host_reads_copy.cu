// The host prints a result while an asynchronous copy is still transferring it.
#include <cstdio>

__global__ void fill(int* x) { x[threadIdx.x] = 7; }

int main() {
  int *device, *pinned;
  cudaMalloc(&device, 128);
  cudaMallocHost(&pinned, 128);  // finding: allocated
  pinned[3] = 1;
  cudaStream_t s;
  cudaStreamCreate(&s);
  fill<<<1, 32, 0, s>>>(device);
  // finding: unfinished
  cudaMemcpyAsync(pinned, device, 128, cudaMemcpyDeviceToHost, s);
  // finding: race called bytes=128 offset=12 says=has_waited_for_the_copy
  printf("%d\n", pinned[3]);
  cudaStreamSynchronize(s);
  cudaStreamDestroy(s);
  cudaFree(device);
  cudaFreeHost(pinned);
}
