// The host reads the sum of atomic operations, and the result of a memset, without waiting.
#include <cstring>

__managed__ int total;

__global__ void add(const int* x) {
  atomicAdd(&total, x[threadIdx.x]);  // finding 1: updates
}

int main() {
  int *x, *filled;
  cudaMallocManaged(&x, 128);
  cudaMallocHost(&filled, 8192);  // finding 2: allocated
  for (int i = 0; i < 32; ++i) x[i] = i;
  add<<<1, 32>>>(x);                 // finding 1: unfinished
  const int seen = total;            // finding 1: race called object=total
  cudaMemsetAsync(filled, 1, 8192);  // finding 2: unfinished
  char copied[8192];
  std::memcpy(copied, filled, 8192);  // finding 2: race called says=for_the_fill
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFreeHost(filled);
  return seen + copied[5000] == 0;
}
