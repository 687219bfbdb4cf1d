// The halves of a warp reduce with shuffles and half masks, one half on each side of a branch.
#include "common/emulator/tests/programs/program.hpp"

__global__ void reduce_halves(const int* in, int* out) {
  const unsigned lane = threadIdx.x % 32;
  int sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (lane < 16) {
    for (int step = 8; step > 0; step /= 2) sum += __shfl_down_sync(0x0000ffffu, sum, step, 16);
  } else {
    for (int step = 8; step > 0; step /= 2) sum += __shfl_xor_sync(0xffff0000u, sum, step);
  }
  const unsigned everyone = __ballot_sync(0xffffffffu, lane % 16 == 0);
  if (lane % 16 == 0) {
    out[(blockIdx.x * blockDim.x + threadIdx.x) / 16] = everyone == 0x00010001u ? sum : -1;
  }
}

int main() {
  constexpr int blocks = 3, threads = 64;
  std::vector<int> in(blocks * threads), expected(blocks * threads / 16);
  for (int i = 0; i < blocks * threads; ++i) {
    in[i] = i * i % 101 - 50;
    expected[i / 16] += in[i];
  }
  device_array<int> values(in), sums(expected.size());
  reduce_halves<<<blocks, threads>>>(values.get(), sums.get());
  finish();
  return compare("shuffle_in_branch", sums.values(), expected);
}
