// A kernel that gives up: error 719, whichever block it was, and nothing after it runs.
#include "expect.hpp"

__global__ void give_up(int block) {
  if (static_cast<int>(blockIdx.x) == block && threadIdx.x == 7) __trap();
}

__global__ void mark(int* flag) { *flag = 1; }

int main() {
  in_child("trap", [] {
    int* flag = nullptr;
    EXPECT(cudaMallocHost(&flag, sizeof(int)), cudaSuccess);
    *flag = 0;
    give_up<<<10, 64>>>(1000);  // no thread traps
    EXPECT(cudaDeviceSynchronize(), cudaSuccess);
    give_up<<<10, 64>>>(9);
    mark<<<1, 1>>>(flag);
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    EXPECT_TRUE(*flag == 0);
    EXPECT(cudaGetLastError(), cudaErrorLaunchFailure);
    mark<<<1, 1>>>(flag);
    EXPECT(cudaGetLastError(), cudaErrorLaunchFailure);
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    int count = 0;
    EXPECT(cudaGetDeviceCount(&count), cudaSuccess);  // what needs no device still answers
  });
  return outcome("trap");
}
