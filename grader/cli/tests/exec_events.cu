// Programs for event_times_test.cpp that measure themselves and print their measurements.
#include <cstdio>
#include <cstring>

// A block of it fills next to nothing of a GPU.
__global__ void products(float* x, int n) {
  float y = x[threadIdx.x];
  for (int i = 0; i < n; ++i) y = y * 0.5f + 1.0f;
  x[threadIdx.x] = y;
}
__global__ void chain(float* x, long long* cycles, int n) {
  float y = x[0];
  const long long begin = clock64();
#pragma unroll 64
  for (int i = 0; i < n; ++i) y = y * 0.5f + 1.0f;
  *cycles = clock64() - begin;
  x[0] = y;
}
__global__ void wait_for(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

namespace {

struct event {
  cudaEvent_t handle;
  event() { cudaEventCreate(&handle); }
  void record(cudaStream_t stream = nullptr) { cudaEventRecord(handle, stream); }
};

float between(const event& first, const event& second) {
  float ms = -1;
  cudaEventSynchronize(second.handle);
  cudaEventElapsedTime(&ms, first.handle, second.handle);
  return ms;
}

// Behind a fill, so that the stream is busy when the kernel is asked for.
void one_kernel(float* x) {
  event first, second, third;
  cudaMemsetAsync(x, 0, 64 << 20);
  first.record();
  products<<<1, 32>>>(x, 1000);
  second.record();
  products<<<1, 32>>>(x, 1000);
  products<<<1, 32>>>(x, 1000);
  third.record();
  std::printf("one %.6f two %.6f\n", between(first, second), between(second, third));
}

// Two kernels in `count` streams, until both have ended.
float in_streams(float* x, int count, bool one_waits) {
  cudaStream_t streams[2];
  for (cudaStream_t& s : streams) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  event first, done, last;
  first.record(streams[0]);
  products<<<1, 32, 0, streams[0]>>>(x, 100000);
  done.record(streams[0]);
  if (one_waits) cudaStreamWaitEvent(streams[count - 1], done.handle, 0);
  products<<<1, 32, 0, streams[count - 1]>>>(x, 100000);
  last.record(streams[count - 1]);
  cudaStreamWaitEvent(streams[0], last.handle, 0);
  last.record(streams[0]);
  return between(first, last);
}

}  // namespace

int main(int count, char** words) {
  const auto is = [&](const char* word) { return count > 1 && std::strcmp(words[1], word) == 0; };
  float* x = nullptr;
  if (cudaMalloc(&x, 64 << 20) != cudaSuccess) return 5;
  cudaMemset(x, 0, 4096);
  if (is("kernel")) one_kernel(x);
  if (is("streams")) {
    std::printf("one %.6f two %.6f waiting %.6f\n", in_streams(x, 1, false),
                in_streams(x, 2, false), in_streams(x, 2, true));
  }
  if (is("copy")) {
    event first, second;
    static char host[1 << 20];
    first.record();
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    second.record();
    std::printf("copy %.6f\n", between(first, second));
  }
  if (is("clock")) {
    long long *cycles = nullptr, answer = 0;
    cudaMalloc(&cycles, sizeof *cycles);
    chain<<<1, 1>>>(x, cycles, 4096);
    cudaMemcpy(&answer, cycles, sizeof answer, cudaMemcpyDeviceToHost);
    std::printf("each %.3f\n", static_cast<double>(answer) / 4096);
  }
  if (is("wait")) {
    event first, second;
    first.record();
    wait_for<<<1, 32>>>(1'000'000'000);
    second.record();
    std::printf("wait %.6f\n", between(first, second));
  }
  if (is("nothing")) {  // events whose time is never read
    event first;
    first.record();
  }
  cudaFree(x);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 6;
}
