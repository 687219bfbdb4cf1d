// cuda::atomic wait and notify, cuda::latch, cuda::counting_semaphore and cuda::binary_semaphore.
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>

#include "common/emulator/tests/programs/program.hpp"

constexpr int threads = 64, blocks = 3;

struct meeting {
  cuda::atomic<int, cuda::thread_scope_device> turn{0};
  cuda::latch<cuda::thread_scope_device> everyone{blocks * threads};
  cuda::counting_semaphore<cuda::thread_scope_device, 5> seats{5};
  cuda::binary_semaphore<cuda::thread_scope_device> door{0};
  cuda::atomic<int, cuda::thread_scope_device> inside{0}, most{0};
};

__global__ void prepare(meeting* m) { new (m) meeting; }

// Thread 0 of each block waits for its turn; the last block begins.
__global__ void relay(meeting* m, int* log) {
  if (threadIdx.x == 0) {
    const int mine = static_cast<int>(gridDim.x - 1 - blockIdx.x);
    for (int now; (now = m->turn.load(cuda::std::memory_order_acquire)) != mine;) m->turn.wait(now);
    log[mine] = static_cast<int>(blockIdx.x);
    m->turn.store(mine + 1, cuda::std::memory_order_release);
    m->turn.notify_all();
  }
  m->everyone.arrive_and_wait();
  // At most five at a time.
  m->seats.acquire();
  const int now = m->inside.fetch_add(1) + 1;
  m->most.fetch_max(now);
  m->inside.fetch_sub(1);
  m->seats.release();
}

__global__ void hand_over(meeting* m, int* log) {
  if (blockIdx.x == 1) {
    log[0] = 77;
    m->door.release();
  } else {
    m->door.acquire();
    log[1] = log[0] + 1;
    log[2] = m->door.try_acquire() ? 1 : 0;
  }
}

__global__ void report(const meeting* m, int* y) {
  y[0] = m->turn.load();
  y[1] = m->inside.load();
  y[2] = m->most.load() >= 1 && m->most.load() <= 5 ? 1 : 0;
  y[3] = m->everyone.try_wait() ? 1 : 0;
}

int main() {
  meeting* m = nullptr;
  check(cudaMalloc(&m, sizeof(meeting)));
  device_array<int> log(blocks), door(3), y(4);
  prepare<<<1, 1>>>(m);
  relay<<<blocks, threads>>>(m, log.get());
  hand_over<<<2, 1>>>(m, door.get());
  report<<<1, 1>>>(m, y.get());
  finish();
  check(cudaFree(m));
  return compare("wait and notify", log.values(), {2, 1, 0}) |
         compare("binary semaphore", door.values(), {77, 78, 0}) |
         compare("latch and semaphore", y.values(), {blocks, 0, 1, 1});
}
