// Cooperative groups within a block: tiles of every size with shuffles, votes and matches, tiles
// over several warps, reductions and scans, and the groups of the threads that took a branch.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "common/emulator/tests/programs/program.hpp"

namespace cg = cooperative_groups;

template <int Size>
__device__ void use_tile(int* out, int i) {
  const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  const int sum = cg::reduce(tile, i, cg::plus<int>());
  const int most = cg::reduce(tile, i * 7 % 13, cg::greater<int>());
  const int before = cg::exclusive_scan(tile, i, cg::plus<int>());
  const int last = tile.shfl(i, Size - 1);
  const int odd = __popc(tile.ballot(i % 2 == 1));
  out[i] = sum + most * 1000 + before * 3 + last * 5 + odd * 7 +
           static_cast<int>(tile.meta_group_rank()) * 11;
}

__global__ void tiles(int* out, int n) {
  const int i = threadIdx.x;
  use_tile<32>(out, i);
  use_tile<16>(out + n, i);
  use_tile<4>(out + 2 * n, i);
  use_tile<1>(out + 3 * n, i);
}

// The threads of each arm are a group of their own.
__global__ void coalesced(int* out) {
  const int i = threadIdx.x;
  if (i % 3 == 0) {
    const cg::coalesced_group active = cg::coalesced_threads();
    out[i] = cg::reduce(active, i, cg::plus<int>()) + 1000 * active.thread_rank();
  } else {
    const cg::coalesced_group active = cg::coalesced_threads();
    const auto part = cg::labeled_partition(active, i % 5);
    out[i] = cg::inclusive_scan(part, 1) * 100 + static_cast<int>(part.size());
  }
}

template <int Size>
void expect_tile(std::vector<int>& want, int n) {
  for (int i = 0; i < n; ++i) {
    int sum = 0, most = 0, before = 0, odd = 0;
    const int first = i / Size * Size;
    for (int k = first; k < first + Size; ++k) {
      sum += k;
      most = std::max(most, k * 7 % 13);
      if (k < i) before += k;
      odd += k % 2;
    }
    want.push_back(sum + most * 1000 + before * 3 + (first + Size - 1) * 5 + odd * 7 +
                   i / Size * 11);
  }
}

int main() {
  const int n = 128;
  device_array<int> out(4 * n), arms(32);
  tiles<<<1, n>>>(out.get(), n);
  coalesced<<<1, 32>>>(arms.get());
  finish();
  std::vector<int> want;
  expect_tile<32>(want, n);
  expect_tile<16>(want, n);
  expect_tile<4>(want, n);
  expect_tile<1>(want, n);
  std::vector<int> want_arms(32);
  for (int i = 0; i < 32; ++i) {
    if (i % 3 == 0) {
      for (int k = 0; k < 32; k += 3) want_arms[i] += k;
      want_arms[i] += 1000 * (i / 3);
      continue;
    }
    int rank = 0, size = 0;
    for (int k = 0; k < 32; ++k) {
      if (k % 3 == 0 || k % 5 != i % 5) continue;
      ++size;
      if (k <= i) ++rank;
    }
    want_arms[i] = rank * 100 + size;
  }
  return compare("tiles", out.values(), want) + compare("arms", arms.values(), want_arms) ? 1 : 0;
}
