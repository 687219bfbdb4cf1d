// attack reduction: WRONG or CHECK or CRASH or PROTOCOL, at most 0 points
// A second thread launches the kernel on its own stream after the call has returned.
#include <atomic>
#include <chrono>
#include <thread>

#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}

void reduce(const int* in, int* out, int*, int n) {
  static cudaStream_t stream = nullptr;
  if (stream == nullptr) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    add_up<<<1, 1, 0, stream>>>(in, out, n);
  }).detach();
}
