// cooperative_groups::memcpy_async with wait and wait_prior, by a block and by tiles of a warp.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cuda/barrier>

#include "common/emulator/tests/programs/program.hpp"

namespace cg = cooperative_groups;
constexpr int stages = 2, batch = 160, batches = 7;

__global__ void by_block(const int* x, int* y) {
  __shared__ alignas(16) int buffer[stages][batch];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, buffer[0], x, sizeof buffer[0]);
  for (int t = 0; t < batches; ++t) {
    if (t + 1 < batches) {
      cg::memcpy_async(block, buffer[(t + 1) % stages], x + (t + 1) * batch, sizeof buffer[0]);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    for (int k = threadIdx.x; k < batch; k += blockDim.x)
      y[t * batch + k] = buffer[t % stages][batch - 1 - k];
    block.sync();
  }
}

// Each tile copies its own part, in elements and in bytes of a stated alignment.
__global__ void by_tile(const int* x, int* y) {
  __shared__ alignas(16) int buffer[4 * 40];
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int* const part = buffer + 40 * tile.meta_group_rank();
  const int* const from = x + 40 * tile.meta_group_rank();
  cg::memcpy_async(tile, part, from, cuda::aligned_size_t<16>(128));
  cg::memcpy_async(tile, part + 32, from + 32, 5 * sizeof(int));
  cg::wait(tile);
  const int lane = tile.thread_rank();
  y[32 * tile.meta_group_rank() + lane] = part[36 - lane];
}

int main() {
  std::vector<int> x(batches * batch), expected(batches * batch), parts(128);
  for (int i = 0; i < batches * batch; ++i) x[i] = 11 * i - i % 17;
  for (int i = 0; i < batches * batch; ++i)
    expected[i] = x[i / batch * batch + batch - 1 - i % batch];
  for (int i = 0; i < 128; ++i) parts[i] = x[i / 32 * 40 + 36 - i % 32];
  device_array<int> dx(x), dy(batches * batch), dz(128);
  by_block<<<1, 96>>>(dx.get(), dy.get());
  by_tile<<<1, 128>>>(dx.get(), dz.get());
  finish();
  return compare("copies of a block", dy.values(), expected) |
         compare("copies of tiles", dz.values(), parts);
}
