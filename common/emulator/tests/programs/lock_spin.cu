// The natural lock: spin, then the critical section, then release. The lane that holds the lock
// leaves the loop while its neighbours stay in it. A machine that waits for all lanes after the
// loop before it continues never ends.
#include "common/emulator/tests/programs/program.hpp"

__global__ void count(int* lock, volatile int* counter) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *counter = *counter + 1;
  __threadfence();
  atomicExch(lock, 0);
}

int main() {
  device_array<int> lock(1), counter(1);
  count<<<1, 32>>>(lock.get(), counter.get());
  finish();
  return compare("lock_spin", counter.values(), {32});
}
