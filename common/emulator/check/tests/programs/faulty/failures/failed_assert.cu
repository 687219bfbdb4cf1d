// An assertion does not hold.
#include <cassert>

__global__ void check_sign(const int* x) {
  assert(x[threadIdx.x] >= 0);  // finding: failed
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMemset(x, 0xff, 32 * sizeof(int));
  check_sign<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
