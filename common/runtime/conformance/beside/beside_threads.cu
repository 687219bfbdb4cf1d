// Threads of the host with kernels that wait for each other's, many blocks that wait, and kernels
// that the host feeds through pinned and managed memory.
#include <cuda_runtime.h>

#include <atomic>
#include <thread>
#include <vector>

#include "common/runtime/conformance/beside/waiting.hpp"

namespace {

// Passes a token on to the next place, `rounds` times.
__global__ void pass_on(volatile int* token, int place, int places, int rounds) {
  for (int n = 0; n < rounds; ++n) {
    while (*token % places != place) {
    }
    __threadfence();
    *token = *token + 1;
    __threadfence();
  }
}

// A ring of kernels, each launched by a thread of its own.
void ring() {
  constexpr int places = 4, rounds = 25;
  waiting w;
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int place = 0; place < places; ++place) {
    threads.emplace_back([&, place] {
      cudaStream_t s;
      failed += cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) != cudaSuccess;
      pass_on<<<1, 1, 0, s>>>(w.flag, place, places, rounds);
      failed += cudaStreamSynchronize(s) != cudaSuccess;
      failed += cudaStreamDestroy(s) != cudaSuccess;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(failed == 0);
  EXPECT_TRUE(w.value(w.flag) == places * rounds);
}

// Blocks that meet at a barrier while one thread of each waits; memory is allocated and freed
// beside them.
__global__ void blocks_wait(volatile int* flag, int* sum) {
  __shared__ int value;
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
    value = *flag;
  }
  __syncthreads();
  atomicAdd(sum, value);
}

void many_blocks() {
  waiting w;
  cudaStream_t a = make_stream(), b = make_stream();
  // The pool's memory is there before the kernel that waits.
  int* first;
  EXPECT(cudaMallocAsync(&first, 1000, b), cudaSuccess);
  EXPECT(cudaFreeAsync(first, b), cudaSuccess);
  EXPECT(cudaStreamSynchronize(b), cudaSuccess);
  blocks_wait<<<50, 96, 0, a>>>(w.flag, w.seen);
  for (int n = 0; n < 20; ++n) {
    int* more;
    EXPECT(cudaMallocAsync(&more, 1000, b), cudaSuccess);
    EXPECT(cudaMemsetAsync(more, 0, 1000, b), cudaSuccess);
    twice<<<1, 1, 0, b>>>(more);
    EXPECT(cudaFreeAsync(more, b), cudaSuccess);
  }
  EXPECT(cudaStreamSynchronize(b), cudaSuccess);
  EXPECT_NOT_READY(cudaStreamQuery(a));
  set<<<1, 1, 0, b>>>(w.flag, 3);
  EXPECT(cudaStreamSynchronize(a), cudaSuccess);
  EXPECT_TRUE(w.value(w.seen) == 3 * 50 * 96);
  for (cudaStream_t s : {a, b}) EXPECT(cudaStreamDestroy(s), cudaSuccess);
}

// The host sets a flag in memory that is its own and the device's, with atomics of its language.
// (An atomic addition of 0 would be no load: without cudaDevAttrHostNativeAtomicSupported it may
// write an old value over what the host has stored meanwhile, as seen on an H100.)
__global__ void answer(int* mail) {
  while (*static_cast<volatile int*>(mail) != 1) {
  }
  __threadfence_system();
  mail[1] = mail[2] + 1;
  __threadfence_system();
  atomicExch_system(mail, 2);
}

void host_feeds(bool managed) {
  int* mail;
  if (managed)
    EXPECT(cudaMallocManaged(&mail, 3 * sizeof(int)), cudaSuccess);
  else
    EXPECT(cudaMallocHost(&mail, 3 * sizeof(int)), cudaSuccess);
  mail[0] = mail[1] = mail[2] = 0;
  cudaStream_t a = make_stream();
  answer<<<1, 1, 0, a>>>(mail);
  EXPECT_NOT_READY(cudaStreamQuery(a));
  mail[2] = 41;
  __atomic_store_n(&mail[0], 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&mail[0], __ATOMIC_SEQ_CST) != 2) {
  }
  EXPECT_TRUE(mail[1] == 42);
  EXPECT(cudaStreamSynchronize(a), cudaSuccess);
  EXPECT(cudaStreamDestroy(a), cudaSuccess);
  EXPECT(managed ? cudaFree(mail) : cudaFreeHost(mail), cudaSuccess);
}

// A fault of a kernel that was left is the error of the calls after it, and ends all others.
__global__ void fail_after(volatile int* flag, int* bad) {
  while (*flag == 0) {
  }
  *bad = 1;
}

void fault() {
  waiting w;
  cudaStream_t a = make_stream(), b = make_stream(), c = make_stream();
  wait_for<<<1, 1, 0, c>>>(w.flag + 1, 7, w.seen);
  fail_after<<<1, 1, 0, a>>>(w.flag, nullptr);
  twice<<<1, 1, 0, a>>>(w.seen);
  set<<<1, 1, 0, b>>>(w.flag, 1);
  EXPECT(cudaStreamSynchronize(a), cudaErrorIllegalAddress);
  EXPECT(cudaStreamSynchronize(c), cudaErrorIllegalAddress);
  EXPECT(cudaMemsetAsync(w.seen, 0, 4, b), cudaErrorIllegalAddress);
  std::fflush(stdout);
  _exit(broken_expectations == 0 ? 0 : 1);
}

}  // namespace

int main() {
  load_kernels();
  cudaFuncAttributes f;
  EXPECT(cudaFuncGetAttributes(&f, pass_on), cudaSuccess);
  EXPECT(cudaFuncGetAttributes(&f, blocks_wait), cudaSuccess);
  EXPECT(cudaFuncGetAttributes(&f, answer), cudaSuccess);
  EXPECT(cudaFuncGetAttributes(&f, fail_after), cudaSuccess);
  in_child("fault", fault);
  ring();
  many_blocks();
  host_feeds(false);
  host_feeds(true);
  return outcome("host threads and kernels that wait");
}
