// Work of one stream keeps its order. Events order streams and measure the time between two points.
#include "expect.hpp"

// Takes a while, so that a stream that did not wait would read the old value.
__global__ void slow_add(int* value, int amount) {
  for (int i = 0; i < 20'000; ++i) atomicAdd(value + 1, 1);
  atomicAdd(value, amount);
}

__global__ void multiply(int* value, int factor) { *value *= factor; }

int main() {
  int* value = nullptr;
  check(cudaMalloc(&value, 2 * sizeof(int)));
  check(cudaMemset(value, 0, 2 * sizeof(int)));
  cudaStream_t first, second;
  check(cudaStreamCreate(&first));
  check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  cudaEvent_t start, done, untimed;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&done));
  check(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));

  EXPECT(cudaEventQuery(done), cudaSuccess);  // nothing recorded: nothing to wait for
  check(cudaDeviceSynchronize());
  check(cudaEventRecord(start, first));
  slow_add<<<1, 1, 0, first>>>(value, 5);
  multiply<<<1, 1, 0, first>>>(value, 3);
  check(cudaEventRecord(done, first));
  check(cudaStreamWaitEvent(second, done, 0));
  slow_add<<<1, 1, 0, second>>>(value, 1);
  multiply<<<1, 1, 0, second>>>(value, 2);
  check(cudaEventRecord(untimed, second));
  EXPECT(cudaEventSynchronize(untimed), cudaSuccess);
  EXPECT(cudaEventQuery(done), cudaSuccess);
  EXPECT(cudaStreamQuery(second), cudaSuccess);
  int found = 0;
  check(cudaMemcpy(&found, value, sizeof found, cudaMemcpyDeviceToHost));
  EXPECT_TRUE(found == ((0 + 5) * 3 + 1) * 2);

  float ms = -1;
  EXPECT(cudaEventElapsedTime(&ms, start, done), cudaSuccess);
  EXPECT_TRUE(ms > 0 && ms < 10'000);
  EXPECT(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
  EXPECT(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  unsigned flags = 77;
  EXPECT(cudaStreamGetFlags(second, &flags), cudaSuccess);
  EXPECT_TRUE(flags == cudaStreamNonBlocking);
  int least = 1, greatest = 1;
  EXPECT(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
  EXPECT_TRUE(greatest <= least);
  check(cudaStreamDestroy(first));
  check(cudaStreamDestroy(second));
  for (const cudaEvent_t event : {start, done, untimed}) check(cudaEventDestroy(event));
  check(cudaFree(value));
  return outcome("streams and events");
}
