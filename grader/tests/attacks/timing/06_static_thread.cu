// attack reduction: CHECK or WRONG or TIMEOUT, at most 0 points
// has a thread, started by a static constructor, that adds on the host
#include <cuda_runtime.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "labs/reduction/reduction.hpp"

namespace {

struct order {
  const int* in;
  int* out;
  int n;
};
std::atomic<order*> wanted{nullptr};

void serve() {
  for (;;) {
    order* const o = wanted.load();
    if (o == nullptr) {
      std::this_thread::yield();
      continue;
    }
    std::vector<unsigned> all(o->n);
    cudaMemcpy(all.data(), o->in, o->n * sizeof(int), cudaMemcpyDeviceToHost);
    const unsigned sum = std::accumulate(all.begin(), all.end(), 0u);
    cudaMemcpy(o->out, &sum, sizeof sum, cudaMemcpyHostToDevice);
    wanted = nullptr;
  }
}

struct starts_early {
  starts_early() { std::thread(serve).detach(); }
} early;

}  // namespace

__global__ void decoy(int* out) { *out = 1; }

void reduce(const int* in, int* out, int*, int n) {
  decoy<<<1, 1>>>(out);
  order mine{in, out, n};
  wanted = &mine;
  while (wanted.load() != nullptr) std::this_thread::yield();
}
