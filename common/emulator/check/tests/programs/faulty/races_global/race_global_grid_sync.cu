// A cooperative launch whose phases lack grid.sync() between them.
#include <cooperative_groups.h>

__global__ void phases(int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  x[i] = i;  // finding: race writes
  cooperative_groups::this_thread_block().sync();
  y[i] = x[n - 1 - i];  // finding: race reads
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 64 * sizeof(int));  // finding: allocated
  cudaMalloc(&y, 64 * sizeof(int));
  void* arguments[] = {&x, &y};
  cudaLaunchCooperativeKernel(phases, 2, 32, arguments, 0, nullptr);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
