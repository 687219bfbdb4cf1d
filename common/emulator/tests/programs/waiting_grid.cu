// Two blocks pass a token back and forth, and the first block waits first. Blocks that wait for
// each other must all make progress, whichever starts first.
#include "common/emulator/tests/programs/program.hpp"

constexpr int rounds = 50;

__global__ void table_tennis(volatile int* token) {
  const int me = blockIdx.x;
  for (int round = 0; round < rounds; ++round) {
    const int mine = 2 * round + (me == 0 ? 1 : 0);
    while (*token != mine) {
    }
    __threadfence();
    *token = mine + 1;
  }
}

int main() {
  device_array<int> token(1);
  table_tennis<<<2, 1>>>(token.get());
  finish();
  return compare("waiting_grid", token.values(), {2 * rounds});
}
