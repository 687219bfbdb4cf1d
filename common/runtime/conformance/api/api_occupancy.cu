// How many blocks fit: the answers follow from the device's limits and the kernel's needs.
#include <algorithm>

#include "expect.hpp"

extern __shared__ int dynamic[];

__global__ void light(int* out) { out[threadIdx.x] = static_cast<int>(threadIdx.x); }

__global__ void shared_user(int* out) {
  dynamic[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}

int main() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0));
  int blocks = 0;
  for (const int threads : {32, 128, 256, 1024}) {
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, light, threads, 0), cudaSuccess);
    EXPECT_TRUE(blocks == std::min(properties.maxBlocksPerMultiProcessor,
                                   properties.maxThreadsPerMultiProcessor / threads));
  }
  // Shared memory, with what each block loses to the system, is shared by the blocks.
  const int dynamic_bytes = 40'000;
  EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared_user, 64, dynamic_bytes),
         cudaSuccess);
  const std::size_t per_block = dynamic_bytes + properties.reservedSharedMemPerBlock;
  EXPECT_TRUE(blocks >= 1);
  EXPECT_TRUE(blocks * per_block <= properties.sharedMemPerMultiprocessor);
  EXPECT_TRUE((blocks + 1) * (per_block + 256) > properties.sharedMemPerMultiprocessor);
  EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, light, 2000, 0), cudaSuccess);
  EXPECT_TRUE(blocks == 0);

  int grid = 0, threads = 0;
  EXPECT(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, light), cudaSuccess);
  EXPECT_TRUE(threads % 32 == 0 && threads >= 64 && threads <= 1024);
  EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, light, threads, 0), cudaSuccess);
  EXPECT_TRUE(blocks * threads == properties.maxThreadsPerMultiProcessor);
  EXPECT_TRUE(grid == blocks * properties.multiProcessorCount);
  std::size_t available = 0;
  EXPECT(cudaOccupancyAvailableDynamicSMemPerBlock(&available, shared_user, 4, 64), cudaSuccess);
  EXPECT_TRUE(available > 0 && 4 * (available + properties.reservedSharedMemPerBlock) <=
                                   properties.sharedMemPerMultiprocessor);
  return outcome("occupancy");
}
