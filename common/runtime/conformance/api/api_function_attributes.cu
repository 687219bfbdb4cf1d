// A kernel's attributes, and 200 KB of dynamic shared memory after asking for it.
#include "expect.hpp"

__constant__ int factors[8];
extern __shared__ int dynamic[];

__global__ void __launch_bounds__(128) bounded(int* out) {
  __shared__ int fixed[100];
  if (threadIdx.x < 100) fixed[threadIdx.x] = factors[threadIdx.x % 8];
  __syncthreads();
  out[threadIdx.x] = fixed[threadIdx.x % 100];
}

// Writes all of its shared memory, and reads it back from other threads.
__global__ void large(int* sum, int words) {
  for (int i = threadIdx.x; i < words; i += blockDim.x) dynamic[i] = i;
  __syncthreads();
  int mine = 0;
  for (int i = threadIdx.x; i < words; i += blockDim.x) mine += dynamic[words - 1 - i];
  atomicAdd(sum, mine);
}

int main() {
  cudaFuncAttributes attributes;
  EXPECT(cudaFuncGetAttributes(&attributes, bounded), cudaSuccess);
  EXPECT_TRUE(attributes.maxThreadsPerBlock == 128);
  EXPECT_TRUE(attributes.sharedSizeBytes == 400);
  EXPECT_TRUE(attributes.ptxVersion == 90);
  EXPECT_TRUE(attributes.maxDynamicSharedSizeBytes == 48 * 1024 - 400);

  device_array<int> sum(1);
  constexpr int bytes = 200 * 1024, words = bytes / 4;
  large<<<1, 256, bytes>>>(sum.get(), words);
  EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
         cudaSuccess);
  EXPECT(cudaFuncGetAttributes(&attributes, large), cudaSuccess);
  EXPECT_TRUE(attributes.maxDynamicSharedSizeBytes == bytes);
  large<<<1, 256, bytes>>>(sum.get(), words);
  finish();
  EXPECT_TRUE(sum.values()[0] == static_cast<int>(static_cast<unsigned>(words) * (words - 1u) / 2));
  large<<<1, 256, bytes + 4>>>(sum.get(), words);
  EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1),
         cudaErrorInvalidValue);
  EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
  return outcome("function attributes");
}
