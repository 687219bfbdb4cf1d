// Cooperative launches: as many blocks as fit at once are accepted, one more is refused.
#include "expect.hpp"

__global__ void count(int* calls) {
  if (threadIdx.x == 0) atomicAdd(calls, 1);
}

int main() {
  int can = 0, multiprocessors = 0, blocks = 0;
  EXPECT(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0), cudaSuccess);
  EXPECT_TRUE(can == 1);
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count, 1024, 0));
  const unsigned most = static_cast<unsigned>(blocks * multiprocessors);
  device_array<int> calls(1);
  int* place = calls.get();
  void* arguments[] = {&place};
  const void* const kernel = reinterpret_cast<const void*>(count);
  EXPECT(cudaLaunchCooperativeKernel(kernel, most, 1024, arguments, 0, nullptr), cudaSuccess);
  EXPECT(cudaLaunchCooperativeKernel(kernel, most + 1, 1024, arguments, 0, nullptr),
         cudaErrorCooperativeLaunchTooLarge);
  EXPECT(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(calls.values()[0] == static_cast<int>(most));
  count<<<most + 1, 1024>>>(place);  // an ordinary grid may be larger than the device
  finish();
  EXPECT_TRUE(calls.values()[0] == static_cast<int>(2 * most + 1));
  return outcome("cooperative launches");
}
