// Host functions in a stream: they run in its order, after the work before them.
#include "expect.hpp"

__global__ void add(int* value, int amount) { *value += amount; }

static int* pinned;
static std::vector<int> seen;

static void CUDART_CB note(void* data) { seen.push_back(*pinned + *static_cast<int*>(data)); }

static void CUDART_CB note_status(cudaStream_t, cudaError_t status, void* data) {
  seen.push_back(status == cudaSuccess ? *pinned + *static_cast<int*>(data) : -1);
}

int main() {
  check(cudaMallocHost(&pinned, sizeof(int)));
  *pinned = 0;
  device_array<int> value(1);
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  int hundred = 100, thousand = 1000;
  const auto step = [&](int amount) {
    add<<<1, 1, 0, stream>>>(value.get(), amount);
    check(cudaMemcpyAsync(pinned, value.get(), sizeof(int), cudaMemcpyDeviceToHost, stream));
  };
  step(1);
  EXPECT(cudaLaunchHostFunc(stream, note, &hundred), cudaSuccess);
  step(2);
  EXPECT(cudaStreamAddCallback(stream, note_status, &thousand, 0), cudaSuccess);
  step(3);
  EXPECT(cudaLaunchHostFunc(stream, note, &thousand), cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_TRUE((seen == std::vector<int>{101, 1003, 1006}));
  EXPECT(cudaLaunchHostFunc(stream, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT(cudaStreamAddCallback(stream, note_status, &thousand, 1), cudaErrorInvalidValue);
  EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
  check(cudaStreamDestroy(stream));
  check(cudaFreeHost(pinned));
  return outcome("host functions");
}
