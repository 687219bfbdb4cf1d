// Lanes on both sides of a branch meet at __syncwarp() at two places, and exchange data. A machine
// that runs one side to its end before the other reads zeros here, silently.
#include "common/emulator/tests/programs/program.hpp"

constexpr int rounds = 4;

__global__ void trade(int* out) {
  __shared__ volatile int box[32];
  const int lane = threadIdx.x;
  box[lane] = 0;
  int value = lane;
  __syncwarp();
  for (int round = 0; round < rounds; ++round) {
    if (lane < 16) {
      box[lane] = value + 1;
      __syncwarp();
      value = box[lane + 16];
      __syncwarp();
    } else {
      box[lane] = value + 1000;
      __syncwarp();
      value = box[lane - 16];
      __syncwarp();
    }
  }
  out[lane] = value;
}

int main() {
  device_array<int> out(32);
  trade<<<1, 32>>>(out.get());
  finish();
  std::vector<int> expected(32);
  for (int lane = 0; lane < 32; ++lane) {
    expected[lane] = lane + rounds / 2 * 1001;
  }
  return compare("syncwarp_in_branch", out.values(), expected);
}
