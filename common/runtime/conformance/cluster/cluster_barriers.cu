// Barriers between the blocks of a cluster: its own barrier in halves, with threads that have
// exited; mbarriers at which other blocks arrive; and bulk copies into another block's memory.
#include <cooperative_groups.h>

#include "cluster_launch.hpp"
#include "common/emulator/tests/programs/program.hpp"
#include "shared_addresses.hpp"

namespace cg = cooperative_groups;

constexpr int threads = 64, words = 128;

// Half of the odd blocks' threads exit before they arrive. The others work between the halves.
__global__ void halves(int* out) {
  __shared__ int own[threads];
  const cg::cluster_group cluster = cg::this_cluster();
  own[threadIdx.x] = static_cast<int>(10 * blockIdx.x + threadIdx.x % 2);
  __syncthreads();
  if (cluster.block_rank() == 1 && threadIdx.x >= threads / 2) return;
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  int sum = 0;
  for (int i = 0; i < 100; ++i) sum += i % 3;
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
  const unsigned other = cluster.block_rank() ^ 1;
  if (threadIdx.x < 2)
    out[2 * blockIdx.x + threadIdx.x] =
        cluster.map_shared_rank(own, other)[threadIdx.x] + (sum == 99 ? 0 : 1);
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

// Every block arrives once at the mbarrier of block 0, which waits for all of them.
__global__ void gather(int* out) {
  __shared__ alignas(8) unsigned long long barrier;
  __shared__ int box[8];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
                 "r"(cluster.num_blocks()));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    cluster.map_shared_rank(box, 0)[rank] = static_cast<int>(rank * rank + 1);
    asm volatile(
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(in_block(&barrier, 0))
        : "memory");
    if (rank == 0) {
      wait_for_phase(shared_address(&barrier), 0);
      int sum = 0;
      for (unsigned r = 0; r < cluster.num_blocks(); ++r) sum += box[r];
      out[blockIdx.x / cluster.num_blocks()] = sum;
    }
  }
  cluster.sync();
}

// Each block copies its tile into the next block's memory, and that block's mbarrier counts bytes.
__global__ void send(int* out) {
  __shared__ alignas(16) int tile[words], box[words];
  __shared__ alignas(8) unsigned long long barrier;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  for (int i = threadIdx.x; i < words; i += threads)
    tile[i] = static_cast<int>(1000 * cluster.block_rank()) + i;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
        "r"(static_cast<unsigned>(sizeof box))
        : "memory");
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  cluster.sync();
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(in_block(box, next)),
        "r"(shared_address(tile)), "r"(static_cast<unsigned>(sizeof tile)),
        "r"(in_block(&barrier, next))
        : "memory");
  wait_for_phase(shared_address(&barrier), 0);
  for (int i = threadIdx.x; i < words; i += threads) out[blockIdx.x * words + i] = box[i];
  cluster.sync();
}

void launch(void (*kernel)(int*), unsigned blocks, unsigned cluster, int* out) {
  check(launch_in_clusters(kernel, {blocks, cluster, threads}, out));
  finish();
}

int main() {
  device_array<int> met(8), sums(2), sent(8 * words);
  launch(halves, 4, 2, met.get());
  int wrong = compare("halves", met.values(), std::vector<int>{10, 11, 0, 1, 30, 31, 20, 21});
  launch(gather, 16, 8, sums.get());
  wrong |= compare("arrivals of other blocks", sums.values(), std::vector<int>{148, 148});
  launch(send, 8, 4, sent.get());
  std::vector<int> expected;
  for (int b = 0; b < 8; ++b)
    for (int i = 0; i < words; ++i) expected.push_back(1000 * ((b % 4 + 3) % 4) + i);
  return wrong | compare("tiles of the block before", sent.values(), expected);
}
