// Built with --default-stream per-thread: the null stream of a thread does not wait for kernels in
// those of others, in any call that takes it or means it.
#include <cuda_runtime.h>

#include <atomic>
#include <thread>

#include "common/runtime/conformance/beside/waiting.hpp"

namespace {

__device__ int symbol;

void set_one(void* at) { *static_cast<int*>(at) = 1; }

}  // namespace

int main() {
  load_kernels();
  waiting w;
  std::atomic<bool> launched{false}, ended{false};
  std::thread other([&] {
    wait_for<<<1, 1>>>(w.flag, 7, w.seen);
    twice<<<1, 1>>>(w.seen);
    const bool waits = cudaStreamQuery(nullptr) == cudaErrorNotReady;
    (void)cudaGetLastError();
    launched = true;  // after the question, since the flag is set some calls later
    ended = waits && cudaStreamSynchronize(nullptr) == cudaSuccess;
  });
  while (!launched) {
  }
  EXPECT(cudaStreamQuery(nullptr), cudaSuccess);
  int one = 1, back = 0, called = 0;
  EXPECT(cudaMemcpyToSymbol(symbol, &one, sizeof one), cudaSuccess);
  EXPECT(cudaMemcpyFromSymbol(&back, symbol, sizeof back), cudaSuccess);
  EXPECT_TRUE(back == 1);
  EXPECT(cudaMemset(w.seen + 1, 1, sizeof(int)), cudaSuccess);
  EXPECT(cudaMemset2D(w.seen + 1, sizeof(int), 2, sizeof(int), 1), cudaSuccess);
  EXPECT(cudaMemcpy(&back, w.seen + 1, sizeof back, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_TRUE(back == 0x02020202);
  EXPECT(cudaMemcpy2D(&back, sizeof back, w.seen + 1, sizeof(int), sizeof(int), 1,
                      cudaMemcpyDeviceToHost),
         cudaSuccess);
  EXPECT(cudaLaunchHostFunc(nullptr, set_one, &called), cudaSuccess);
  EXPECT(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_TRUE(called == 1);
  // The legacy default stream does wait.
  EXPECT_NOT_READY(cudaStreamQuery(cudaStreamLegacy));
  const int seven = 7;
  EXPECT(cudaMemcpy(w.flag, &seven, sizeof seven, cudaMemcpyHostToDevice), cudaSuccess);
  other.join();
  EXPECT_TRUE(ended);
  EXPECT_TRUE(w.value(w.seen) == 14);
  return outcome("null streams of threads beside each other");
}
