// attack reduction: WRONG or CHECK, at most 0 points
// has a host thread that adds after the call has returned
#include <cuda_runtime.h>

#include <numeric>
#include <thread>
#include <vector>

#include "labs/reduction/reduction.hpp"

__global__ void decoy(int* out) { *out = 1; }

void reduce(const int* in, int* out, int*, int n) {
  decoy<<<1, 1>>>(out);
  static std::thread worker;
  if (worker.joinable()) worker.join();
  worker = std::thread([=] {
    std::vector<int> copy(n);
    cudaMemcpy(copy.data(), in, n * sizeof(int), cudaMemcpyDeviceToHost);
    const unsigned sum = std::accumulate(copy.begin(), copy.end(), 0u);
    cudaMemcpy(out, &sum, sizeof sum, cudaMemcpyHostToDevice);
  });
  static struct at_end {
    ~at_end() {
      if (worker.joinable()) worker.join();
    }
  } joins;
}
