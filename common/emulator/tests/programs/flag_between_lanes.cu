// Lane 0 polls a flag that lane 1 of the same warp sets: both sides of a branch must make progress.
#include "common/emulator/tests/programs/program.hpp"

__global__ void wait_for_neighbour(volatile int* flag, int* seen) {
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
    *seen = *flag;
  } else if (threadIdx.x == 1) {
    __threadfence();
    *flag = 42;
  }
}

int main() {
  device_array<int> flag(1), seen(1);
  wait_for_neighbour<<<1, 32>>>(flag.get(), seen.get());
  finish();
  return compare("flag_between_lanes", seen.values(), {42});
}
