// Locks: a spin lock with acquire and release, a ticket lock, cuda::std::atomic_flag; held by the
// lanes of one warp against each other and by several blocks.
#include <cuda/atomic>

#include "common/emulator/tests/programs/program.hpp"

constexpr int threads = 64, blocks = 4;
using word = cuda::atomic<int, cuda::thread_scope_device>;

struct locks {
  word spin, next, serving;
  cuda::std::atomic_flag flag;
  int counts[3];
  int order;  // a hash that depends on the order in which tickets are served
};

__global__ void prepare(locks* l) { new (l) locks{}; }

__global__ void count(locks* l) {
  int expected = 0;
  while (!l->spin.compare_exchange_weak(expected, 1, cuda::std::memory_order_acquire)) expected = 0;
  ++l->counts[0];
  l->spin.store(0, cuda::std::memory_order_release);

  const int ticket = l->next.fetch_add(1, cuda::std::memory_order_relaxed);
  while (l->serving.load(cuda::std::memory_order_acquire) != ticket) {
  }
  ++l->counts[1];
  l->order = 31 * l->order + ticket;
  l->serving.store(ticket + 1, cuda::std::memory_order_release);

  while (l->flag.test_and_set(cuda::std::memory_order_acquire)) __nanosleep(20);
  ++l->counts[2];
  l->flag.clear(cuda::std::memory_order_release);
}

int main() {
  locks* l = nullptr;
  check(cudaMalloc(&l, sizeof(locks)));
  prepare<<<1, 1>>>(l);
  count<<<blocks, threads>>>(l);
  finish();
  int found[4];
  check(cudaMemcpy(found, &l->counts, sizeof found, cudaMemcpyDeviceToHost));
  check(cudaFree(l));
  unsigned order = 0;
  for (int ticket = 0; ticket < blocks * threads; ++ticket)
    order = 31 * order + static_cast<unsigned>(ticket);
  const int all = blocks * threads;
  return compare("locks", std::vector<int>(found, found + 4),
                 {all, all, all, static_cast<int>(order)});
}
