// Lanes of one warp take turns with a lock. The critical section is inside the loop, a form that
// worked even before independent thread scheduling.
#include "common/emulator/tests/programs/program.hpp"

__global__ void count(int* lock, volatile int* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *counter = *counter + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

int main() {
  device_array<int> lock(1), counter(1);
  count<<<4, 96>>>(lock.get(), counter.get());
  finish();
  return compare("lock_with_flag", counter.values(), {4 * 96});
}
