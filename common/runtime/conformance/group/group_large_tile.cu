// A tile of 128 threads: a cooperative group of several warps that synchronises and reduces.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "common/emulator/tests/programs/program.hpp"

namespace cg = cooperative_groups;

__global__ void run(int* out) {
  __shared__ cg::block_tile_memory<256> memory;
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<128>(block);
  const int i = threadIdx.x;
  const int sum = cg::reduce(tile, i, cg::plus<int>());
  __shared__ int values[256];
  values[i] = i * i;
  tile.sync();
  const int other = values[tile.meta_group_rank() * 128 + 127 - tile.thread_rank()];
  out[i] = sum + other + (tile.any(i == 130) ? 1 << 20 : 0);
}

int main() {
  device_array<int> out(256);
  run<<<1, 256>>>(out.get());
  finish();
  std::vector<int> want(256);
  for (int i = 0; i < 256; ++i) {
    const int first = i / 128 * 128, other = first + 127 - i % 128;
    want[i] = first * 128 + 127 * 64 + other * other + (first == 128 ? 1 << 20 : 0);
  }
  return compare("tile of four warps", out.values(), want);
}
