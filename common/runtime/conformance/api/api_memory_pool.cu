// Memory in stream order: a pool's allocations are good for kernels, its accounts are right, and a
// release threshold keeps what was freed.
#include "expect.hpp"

__global__ void fill(int* data, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = value + i;
}

static unsigned long long ask(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  unsigned long long value = 0;
  check(cudaMemPoolGetAttribute(pool, attribute, &value));
  return value;
}

int main() {
  constexpr int n = 1 << 20;
  constexpr std::size_t bytes = n * sizeof(int);
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool;
  check(cudaMemPoolCreate(&pool, &properties));
  EXPECT_TRUE(ask(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  unsigned long long everything = ~0ull;
  EXPECT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything), cudaSuccess);

  // Used and freed over and over: what is used at once does not grow.
  std::vector<int> back(n);
  for (int round = 0; round < 5; ++round) {
    int *a = nullptr, *b = nullptr;
    check(cudaMallocFromPoolAsync(&a, bytes, pool, stream));
    check(cudaMallocFromPoolAsync(&b, bytes, pool, stream));
    fill<<<n / 256, 256, 0, stream>>>(a, n, round);
    check(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, stream));
    check(cudaFreeAsync(a, stream));
    check(cudaMemcpyAsync(back.data(), b, bytes, cudaMemcpyDeviceToHost, stream));
    check(cudaFreeAsync(b, stream));
    check(cudaStreamSynchronize(stream));
    EXPECT_TRUE(back[0] == round && back[n - 1] == round + n - 1);
  }
  EXPECT_TRUE(ask(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  EXPECT_TRUE(ask(pool, cudaMemPoolAttrUsedMemHigh) >= 2 * bytes);
  EXPECT_TRUE(ask(pool, cudaMemPoolAttrUsedMemHigh) < 4 * bytes);
  EXPECT_TRUE(ask(pool, cudaMemPoolAttrReservedMemCurrent) >= 2 * bytes);
  EXPECT(cudaMemPoolTrimTo(pool, 0), cudaSuccess);
  EXPECT_TRUE(ask(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
  unsigned long long zero = 0;
  EXPECT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero), cudaSuccess);
  EXPECT_TRUE(ask(pool, cudaMemPoolAttrUsedMemHigh) == 0);

  // The device's pool; memory of either kind may be freed by the call without a stream.
  cudaMemPool_t standard, current;
  check(cudaDeviceGetDefaultMemPool(&standard, 0));
  check(cudaDeviceSetMemPool(0, pool));
  check(cudaDeviceGetMemPool(&current, 0));
  EXPECT_TRUE(current == pool && standard != pool);
  void* memory = nullptr;
  check(cudaMallocAsync(&memory, bytes, stream));
  EXPECT_TRUE(ask(pool, cudaMemPoolAttrUsedMemCurrent) >= bytes);
  cudaPointerAttributes attributes;
  EXPECT(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  EXPECT_TRUE(attributes.type == cudaMemoryTypeDevice);
  check(cudaFreeAsync(memory, stream));
  check(cudaStreamSynchronize(stream));
  EXPECT_TRUE(ask(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  // When cudaFree's memory is back in its pool is not promised, so that is not asked.
  check(cudaMallocAsync(&memory, bytes, stream));
  check(cudaStreamSynchronize(stream));
  EXPECT(cudaFree(memory), cudaSuccess);
  check(cudaDeviceSetMemPool(0, standard));
  check(cudaMemPoolDestroy(pool));
  check(cudaStreamDestroy(stream));
  return outcome("memory pools");
}
