// A tile of 16 threads synchronises only itself, but reads the words that another tile writes.
#include <cooperative_groups.h>

__global__ void reverse(int* x) {
  __shared__ int line[32];
  const auto tile =
      cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
  const int i = threadIdx.x;
  line[i] = x[i];  // finding: race writes object=line
  tile.sync();
  x[i] = line[31 - i];  // finding: race reads
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMemset(x, 0, 32 * sizeof(int));
  reverse<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
