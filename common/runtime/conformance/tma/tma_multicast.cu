// Copies to several blocks of a cluster at once: tiles of a tensor and plain bytes, in clusters of
// 2 and 4 blocks, for every mask. Each block of the mask must receive the data and the bytes at its
// own mbarrier. Other blocks must receive neither.
#include <cooperative_groups.h>

#include "cluster_launch.hpp"
#include "tma/tensor_shape.hpp"
#include "tma/tile_copies.hpp"

namespace cg = cooperative_groups;

constexpr int width = 40, height = 30, box_width = 16, box_height = 6;
constexpr int box_elements = box_width * box_height, threads = 32;
constexpr unsigned box_bytes = box_elements * sizeof(int);

__device__ void multicast_tile(unsigned to, const void* map, int x, int y, unsigned barrier,
                               unsigned short mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(mask)
      : "memory");
}
__device__ void multicast_bytes(unsigned to, const void* from, unsigned barrier,
                                unsigned short mask) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1], %2, [%3], %4;" ::"r"(to),
      "l"(from), "r"(box_bytes), "r"(barrier), "h"(mask)
      : "memory");
}

// Block `sender` copies a tile, or the tensor's first bytes, to the blocks of the mask.
__global__ void receive(const __grid_constant__ CUtensorMap map, const int* tensor, bool of_tensor,
                        unsigned sender, unsigned short mask, int* out) {
  __shared__ __align__(128) int box[box_elements];
  __shared__ __align__(8) unsigned long long barrier;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  const bool receives = (mask >> rank & 1) != 0;
  for (int i = threadIdx.x; i < box_elements; i += threads) box[i] = -1;
  if (threadIdx.x == 0) {
    init_barrier(shared_address(&barrier));
    if (receives) expect_bytes(shared_address(&barrier), box_bytes);
  }
  fence_proxy();
  cluster.sync();
  if (threadIdx.x == 0 && rank == sender) {
    if (of_tensor)
      multicast_tile(shared_address(box), &map, -4, 5, shared_address(&barrier), mask);
    else
      multicast_bytes(shared_address(box), tensor, shared_address(&barrier), mask);
  }
  if (receives) wait_for_phase(shared_address(&barrier), 0);
  cluster.sync();
  // A byte too many would have completed no phase; the other blocks' phases are still the first.
  if (!receives && threadIdx.x == 0) {
    expect_bytes(shared_address(&barrier), 0);
    wait_for_phase(shared_address(&barrier), 0);
  }
  for (int i = threadIdx.x; i < box_elements; i += threads)
    out[blockIdx.x * box_elements + i] = box[i];
}

int wrong_in(unsigned blocks, bool of_tensor) {
  const tensor_shape shape{
      CU_TENSOR_MAP_DATA_TYPE_INT32, 4, {width, height}, {box_width, box_height}};
  std::vector<int> tensor(width * height);
  for (int i = 0; i < width * height; ++i) tensor[i] = 1000 + i;
  std::vector<int> tile(tensor.begin(), tensor.begin() + box_elements);
  if (of_tensor)
    shape.each_element({-4, 5}, [&](std::int64_t from, std::uint64_t to) {
      tile[to / 4] = from < 0 ? 0 : tensor[from / 4];
    });
  const device_array<int> global(tensor);
  int wrong = 0;
  for (unsigned mask = 1; mask < 1u << blocks; ++mask) {
    const unsigned sender = mask % blocks;  // in the mask or not
    const device_array<int> out(2 * blocks * box_elements);
    check(launch_in_clusters(receive, {2 * blocks, blocks, threads}, shape.map_of(global.get()),
                             static_cast<const int*>(global.get()), of_tensor, sender,
                             static_cast<unsigned short>(mask), out.get()));
    finish();
    const std::vector<int> found = out.values();
    for (unsigned b = 0; b < 2 * blocks; ++b) {
      const bool receives = (mask >> (b % blocks) & 1) != 0;
      for (int i = 0; i < box_elements && wrong == 0; ++i) {
        const int expected = receives ? tile[i] : -1;
        if (found[b * box_elements + i] == expected) continue;
        std::printf("%u blocks, mask %u, block %u: element %d is %d, expected %d\n", blocks, mask,
                    b, i, found[b * box_elements + i], expected);
        wrong = 1;
      }
    }
  }
  return wrong;
}

int main() {
  const int wrong = wrong_in(2, true) | wrong_in(4, true) | wrong_in(2, false) | wrong_in(4, false);
  std::printf("copies to several blocks: %s\n", wrong == 0 ? "all right" : "wrong");
  return wrong;
}
