// A kernel gets a pointer to an array of the host.
#include <vector>

__global__ void fill(int* x) {
  x[threadIdx.x] = 1;  // finding: wrong_pointer writes count=64
}

int main() {
  std::vector<int> x(64);
  fill<<<1, 64>>>(x.data());
  cudaDeviceSynchronize();
}
