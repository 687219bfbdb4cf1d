// Built with --default-stream per-thread: each host thread has a default stream of its own.
#include <thread>

#include "common/emulator/tests/programs/program.hpp"

__global__ void add(int* data, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += value;
}

int main() {
  constexpr int threads = 4, n = 2000;
  std::vector<int> found(threads * n), expected;
  int* data = nullptr;
  check(cudaMalloc(&data, found.size() * sizeof(int)));
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([=, &found] {
      int* const mine = data + t * n;
      const std::size_t bytes = n * sizeof(int);
      check(cudaMemsetAsync(mine, 0, bytes, nullptr));
      for (int round = 0; round < 3; ++round) add<<<(n + 63) / 64, 64>>>(mine, n, t + 1);
      check(cudaGetLastError());
      cudaEvent_t done;
      check(cudaEventCreate(&done));
      check(cudaEventRecord(done));
      check(cudaStreamWaitEvent(cudaStreamPerThread, done, 0));
      check(cudaMemcpyAsync(found.data() + t * n, mine, bytes, cudaMemcpyDeviceToHost));
      check(cudaStreamSynchronize(nullptr));
      check(cudaEventDestroy(done));
    });
  }
  for (std::thread& t : running) t.join();
  for (int t = 0; t < threads; ++t) expected.insert(expected.end(), n, 3 * (t + 1));
  check(cudaFree(data));
  return compare("default streams per thread", found, expected);
}
