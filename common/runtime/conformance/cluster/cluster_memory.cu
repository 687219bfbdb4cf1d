// Shared memory of other blocks of a cluster: a histogram whose bins are spread over the blocks, by
// atomics; a ring in which each block reads its neighbour's memory; and stores to a neighbour.
#include <cooperative_groups.h>

#include "cluster_launch.hpp"
#include "common/emulator/tests/programs/program.hpp"

namespace cg = cooperative_groups;

constexpr int n = 10'000, bins_each = 16, threads = 64;

__global__ void __cluster_dims__(2, 1, 1) histogram(const int* x, int* out) {
  __shared__ int bins[bins_each];
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < bins_each) bins[threadIdx.x] = 0;
  cluster.sync();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = x[i] % (2 * bins_each);
    atomicAdd(cluster.map_shared_rank(bins, bin / bins_each) + bin % bins_each, 1);
  }
  cluster.sync();
  if (threadIdx.x < bins_each)
    atomicAdd(&out[cluster.block_rank() * bins_each + threadIdx.x], bins[threadIdx.x]);
}

__global__ void ring(int* read, int* received) {
  __shared__ int own[threads], box[threads];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
  own[threadIdx.x] = static_cast<int>(100 * rank + threadIdx.x);
  cluster.sync();
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  read[i] = cluster.map_shared_rank(own, next)[threads - 1 - threadIdx.x];
  cluster.map_shared_rank(box, next)[threadIdx.x] = own[threadIdx.x] + 1;
  cluster.sync();
  received[i] = box[threadIdx.x];
}

// The explicit forms of PTX: an address of shared::cluster, its rank, and whether it is one's own.
__global__ void addresses(int* out) {
  __shared__ int own[1];
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) own[0] = static_cast<int>(cluster.block_rank() + 7);
  cluster.sync();
  if (threadIdx.x < cluster.num_blocks()) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(own));
    unsigned there, rank, value, is_own, is_cluster;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(threadIdx.x));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(there));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there));
    const int* const generic = cluster.map_shared_rank(own, threadIdx.x);
    asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }"
                 : "=r"(is_own)
                 : "l"(generic));
    asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
                 : "=r"(is_cluster)
                 : "l"(generic));
    const bool is_right = rank == threadIdx.x && value == threadIdx.x + 7 && is_cluster == 1 &&
                          is_own == (threadIdx.x == cluster.block_rank()) &&
                          (generic == own) == (threadIdx.x == cluster.block_rank());
    out[blockIdx.x * cluster.num_blocks() + threadIdx.x] = is_right ? 1 : 0;
  }
  cluster.sync();
}

int main() {
  std::vector<int> x(n), bins(2 * bins_each);
  for (int i = 0; i < n; ++i) x[i] = i * 7 + i / 13;
  for (int value : x) ++bins[value % (2 * bins_each)];
  device_array<int> values(x), found(2 * bins_each);
  histogram<<<6, 128>>>(values.get(), found.get());
  finish();
  int wrong = compare("histogram", found.values(), bins);
  for (const int cluster : {1, 2, 3, 8}) {
    const int blocks = 2 * cluster;
    const cluster_grid in{static_cast<unsigned>(blocks), static_cast<unsigned>(cluster), threads};
    device_array<int> read(blocks * threads), received(blocks * threads), right(blocks * cluster);
    check(launch_in_clusters(ring, in, read.get(), received.get()));
    finish();
    std::vector<int> should_read, should_receive;
    for (int b = 0; b < blocks; ++b) {
      for (int t = 0; t < threads; ++t) {
        const int rank = b % cluster;
        should_read.push_back(100 * ((rank + 1) % cluster) + threads - 1 - t);
        should_receive.push_back(100 * ((rank + cluster - 1) % cluster) + t + 1);
      }
    }
    wrong |= compare("read from the next block", read.values(), should_read);
    wrong |= compare("received from the block before", received.values(), should_receive);
    check(launch_in_clusters(addresses, in, right.get()));
    finish();
    wrong |= compare("addresses", right.values(), std::vector<int>(blocks * cluster, 1));
  }
  return wrong;
}
