// Blocks take turns with a spin lock. Inside it, one thread per block walks a non-atomic list.
#include "common/emulator/tests/programs/program.hpp"

constexpr int blocks = 24;
constexpr int entries = 16;

__global__ void append(int* lock, volatile int* length, volatile int* list) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    const int start = *length;
    for (int i = 0; i < entries; ++i) list[start + i] = blockIdx.x * entries + i;
    *length = start + entries;
    __threadfence();
    atomicExch(lock, 0);
  }
  __syncthreads();
}

int main() {
  device_array<int> lock(1), length(1), list(blocks * entries);
  append<<<blocks, 64>>>(lock.get(), length.get(), list.get());
  finish();
  // Blocks may run in any order, but each block's entries are adjacent and none is lost.
  std::vector<int> found = list.values(), sorted(found.size()), expected(found.size());
  for (int i = 0; i < blocks * entries; ++i) {
    expected[i] = i;
    if (found[i] % entries != i % entries ||
        found[i] / entries != found[i - i % entries] / entries) {
      std::printf("grid_lock: entry %d is %d: another block came in between\n", i, found[i]);
      return 1;
    }
    sorted[found[i]] = found[i];
  }
  if (length.values()[0] != blocks * entries) {
    std::printf("grid_lock: length %d, expected %d\n", length.values()[0], blocks * entries);
    return 1;
  }
  return compare("grid_lock", sorted, expected);
}
