// Kernels of different streams that wait for each other, for a copy, or for the host: they run at
// the same time, and what CUDA orders after them comes after them.
#include <cuda_runtime.h>

#include <atomic>

#include "common/runtime/conformance/beside/waiting.hpp"

namespace {

// Doubles what the host posts, until it posts -1.
__global__ void serve(volatile int* request, volatile int* answer) {
  for (int n = 1;; ++n) {
    while (request[0] != n) {
    }
    __threadfence_system();
    const int x = request[1];
    answer[1] = 2 * x;
    __threadfence_system();
    answer[0] = n;
    if (x == -1) return;
  }
}

// A kernel waits for one that is launched later, in another stream. What is asked of its own
// stream meanwhile is done after it: a kernel, a copy, an event, and what waits for that.
void kernels() {
  cudaStream_t a = make_stream(), b = make_stream(), c = make_stream();
  int *flag, *seen, *home;
  EXPECT(cudaMalloc(&flag, 2 * sizeof(int)), cudaSuccess);
  seen = flag + 1;
  EXPECT(cudaMemset(flag, 0, 2 * sizeof(int)), cudaSuccess);
  EXPECT(cudaMallocHost(&home, 2 * sizeof(int)), cudaSuccess);
  home[0] = home[1] = -1;
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  cudaEvent_t done;
  EXPECT(cudaEventCreate(&done), cudaSuccess);
  wait_for<<<1, 1, 0, a>>>(flag, 7, seen);
  twice<<<1, 1, 0, a>>>(seen);
  EXPECT(cudaMemcpyAsync(home, seen, sizeof(int), cudaMemcpyDeviceToHost, a), cudaSuccess);
  EXPECT(cudaEventRecord(done, a), cudaSuccess);
  EXPECT(cudaStreamWaitEvent(c, done, 0), cudaSuccess);
  EXPECT(cudaMemcpyAsync(home + 1, seen, sizeof(int), cudaMemcpyDeviceToHost, c), cudaSuccess);
  EXPECT_NOT_READY(cudaStreamQuery(a));
  EXPECT_NOT_READY(cudaStreamQuery(c));
  EXPECT_NOT_READY(cudaEventQuery(done));
  EXPECT_TRUE(static_cast<volatile int*>(home)[0] == -1);
  EXPECT(cudaStreamQuery(b), cudaSuccess);
  set<<<1, 1, 0, b>>>(flag, 7);
  EXPECT(cudaEventSynchronize(done), cudaSuccess);
  EXPECT_TRUE(home[0] == 14);
  EXPECT(cudaStreamSynchronize(c), cudaSuccess);
  EXPECT_TRUE(home[1] == 14);
  EXPECT(cudaEventQuery(done), cudaSuccess);
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT(cudaGetLastError(), cudaSuccess);
  EXPECT(cudaEventDestroy(done), cudaSuccess);
  for (cudaStream_t s : {a, b, c}) EXPECT(cudaStreamDestroy(s), cudaSuccess);
  EXPECT(cudaFree(flag), cudaSuccess);
  EXPECT(cudaFreeHost(home), cudaSuccess);
}

// A copy in another stream ends the wait; 64 blocks wait.
void copy() {
  cudaStream_t a = make_stream(), b = make_stream();
  int *flag, *seven;
  EXPECT(cudaMalloc(&flag, 2 * sizeof(int)), cudaSuccess);
  EXPECT(cudaMemset(flag, 0, 2 * sizeof(int)), cudaSuccess);
  EXPECT(cudaMallocHost(&seven, sizeof(int)), cudaSuccess);
  *seven = 7;
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  wait_for<<<64, 64, 0, a>>>(flag, 7, flag + 1);
  EXPECT(cudaMemcpyAsync(flag, seven, sizeof(int), cudaMemcpyHostToDevice, b), cudaSuccess);
  EXPECT(cudaStreamSynchronize(a), cudaSuccess);
  int seen = 0;
  EXPECT(cudaMemcpy(&seen, flag + 1, sizeof seen, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_TRUE(seen == 7);
  for (cudaStream_t s : {a, b}) EXPECT(cudaStreamDestroy(s), cudaSuccess);
  EXPECT(cudaFree(flag), cudaSuccess);
  EXPECT(cudaFreeHost(seven), cudaSuccess);
}

// A kernel that the host feeds through pinned memory, without a call.
void host() {
  int* mail;
  EXPECT(cudaMallocHost(&mail, 4 * sizeof(int)), cudaSuccess);
  volatile int *request = mail, *answer = mail + 2;
  for (int n = 0; n < 4; ++n) mail[n] = 0;
  cudaStream_t a = make_stream();
  serve<<<1, 1, 0, a>>>(request, answer);
  EXPECT(cudaGetLastError(), cudaSuccess);
  for (int n = 1; n <= 20; ++n) {
    request[1] = n == 20 ? -1 : 10 * n;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    request[0] = n;
    while (answer[0] != n) {
    }
    EXPECT_TRUE(answer[1] == (n == 20 ? -2 : 20 * n));
  }
  EXPECT(cudaStreamSynchronize(a), cudaSuccess);
  EXPECT(cudaStreamDestroy(a), cudaSuccess);
  EXPECT(cudaFreeHost(mail), cudaSuccess);
}

// The default stream comes after blocking streams: what it is asked for waits for them. A
// function of the host's comes in its turn.
void default_stream() {
  cudaStream_t a, b = make_stream();
  EXPECT(cudaStreamCreate(&a), cudaSuccess);
  int *flag, called = 0;
  EXPECT(cudaMalloc(&flag, 2 * sizeof(int)), cudaSuccess);
  EXPECT(cudaMemset(flag, 0, 2 * sizeof(int)), cudaSuccess);
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  wait_for<<<1, 1, 0, a>>>(flag, 7, flag + 1);
  twice<<<1, 1>>>(flag + 1);
  EXPECT(cudaLaunchHostFunc(
             a, [](void* at) { *static_cast<int*>(at) = 1; }, &called),
         cudaSuccess);
  EXPECT_NOT_READY(cudaStreamQuery(nullptr));
  EXPECT_TRUE(called == 0);
  set<<<1, 1, 0, b>>>(flag, 7);
  int seen = 0;
  EXPECT(cudaMemcpy(&seen, flag + 1, sizeof seen, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_TRUE(seen == 14);
  EXPECT_TRUE(called == 1);
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  for (cudaStream_t s : {a, b}) EXPECT(cudaStreamDestroy(s), cudaSuccess);
  EXPECT(cudaFree(flag), cudaSuccess);
}

}  // namespace

int main() {
  load_kernels();
  cudaFuncAttributes f;
  EXPECT(cudaFuncGetAttributes(&f, serve), cudaSuccess);
  kernels();
  copy();
  host();
  default_stream();
  return outcome("streams beside each other");
}
