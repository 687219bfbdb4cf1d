// The device's limits can be asked for and set.
#include "expect.hpp"

static std::size_t limit(cudaLimit which) {
  std::size_t value = 0;
  check(cudaDeviceGetLimit(&value, which));
  return value;
}

int main() {
  EXPECT_TRUE(limit(cudaLimitStackSize) == 1024);
  EXPECT_TRUE(limit(cudaLimitPrintfFifoSize) >= 1 << 20);
  EXPECT_TRUE(limit(cudaLimitMallocHeapSize) == 8 << 20);
  EXPECT(cudaDeviceSetLimit(cudaLimitStackSize, 8192), cudaSuccess);
  EXPECT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20), cudaSuccess);
  EXPECT(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20), cudaSuccess);
  EXPECT_TRUE(limit(cudaLimitStackSize) >= 8192);
  EXPECT_TRUE(limit(cudaLimitMallocHeapSize) >= 64 << 20);
  EXPECT_TRUE(limit(cudaLimitPrintfFifoSize) >= 2 << 20);
  std::size_t value = 0;
  EXPECT(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4), cudaErrorUnsupportedLimit);
  EXPECT(cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth), cudaErrorUnsupportedLimit);
  EXPECT(cudaGetLastError(), cudaErrorUnsupportedLimit);
  EXPECT(cudaDeviceGetLimit(&value, static_cast<cudaLimit>(9)), cudaErrorUnsupportedLimit);
  EXPECT(cudaDeviceGetLimit(&value, static_cast<cudaLimit>(10)), cudaErrorInvalidValue);
  EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
  return outcome("limits");
}
