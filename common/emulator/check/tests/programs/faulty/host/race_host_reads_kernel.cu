// The host reads managed memory while a kernel in a stream still writes it, and pinned memory while
// a kernel in the default stream still writes it.
#include <cstdio>

__global__ void fill(int* x) {
  x[threadIdx.x] = 7;  // finding 1: writes; 2: writes
}

int main() {
  int *managed, *pinned;
  cudaMallocManaged(&managed, 128);  // finding 1: allocated
  cudaMallocHost(&pinned, 128);      // finding 2: allocated
  managed[3] = pinned[4] = 1;
  cudaStream_t s;
  cudaStreamCreate(&s);
  fill<<<1, 32, 0, s>>>(managed);  // finding 1: unfinished
  printf("%d\n", managed[3]);      // finding 1: race called offset=12 says=has_waited_for_kernel
  cudaStreamSynchronize(s);
  printf("%d\n", managed[3]);
  fill<<<1, 32>>>(pinned);    // finding 2: unfinished
  printf("%d\n", pinned[4]);  // finding 2: race called offset=16
  cudaDeviceSynchronize();
  cudaStreamDestroy(s);
  cudaFree(managed);
  cudaFreeHost(pinned);
}
