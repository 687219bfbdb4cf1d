// How a kernel ends that accesses shared memory which no block of its cluster has, or that of a
// block that has exited.
#include <cooperative_groups.h>

#include "cluster_launch.hpp"
#include "expect.hpp"

namespace cg = cooperative_groups;

// The address of shared memory, `offset` bytes further, in the block of this rank.
__device__ unsigned in_block(const void* own, unsigned rank, unsigned offset) {
  unsigned at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(at)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(own))), "r"(rank));
  return at + offset;
}

__global__ void read_from(unsigned rank, unsigned offset, int* out) {
  __shared__ int own[4];
  if (threadIdx.x < 4) own[threadIdx.x] = 7;
  const cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  int value;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(in_block(own, rank, offset)));
  if (threadIdx.x == 0) out[blockIdx.x] = value;
  cluster.sync();
}

enum class use_is { load, store, atomic };

__global__ void after_exit(use_is how, int* out) {
  __shared__ int own[4];
  if (threadIdx.x < 4) own[threadIdx.x] = 7;
  const cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  if (cluster.block_rank() == 1) return;
  for (const long long begin = clock64(); clock64() - begin < 2'000'000;) {
  }
  volatile int* const there = cluster.map_shared_rank(own, 1);
  if (how == use_is::load) out[0] = *there;
  if (how == use_is::store) *there = 3;
  if (how == use_is::atomic) atomicAdd(const_cast<int*>(there), 1);
}

int* memory() {
  int* made = nullptr;
  check(cudaMalloc(&made, 1024));
  return made;
}

void reads(unsigned rank, unsigned offset, cudaError_t expected) {
  EXPECT(launch_in_clusters(read_from, {4, 2, 64}, rank, offset, memory()), cudaSuccess);
  EXPECT(cudaDeviceSynchronize(), expected);
}
void accesses_after_exit(use_is how, cudaError_t expected) {
  EXPECT(launch_in_clusters(after_exit, {2, 2, 64}, how, memory()), cudaSuccess);
  EXPECT(cudaDeviceSynchronize(), expected);
}

int main() {
  in_child("the other block", [] { reads(1, 0, cudaSuccess); });
  in_child("a rank past the cluster", [] { reads(2, 0, cudaErrorLaunchFailure); });
  in_child("the last rank of any cluster", [] { reads(15, 0, cudaErrorLaunchFailure); });
  in_child("a rank of no cluster", [] { reads(100, 0, cudaErrorIllegalInstruction); });
  in_child("past the block's memory", [] { reads(1, 1 << 16, cudaErrorIllegalAddress); });
  in_child("a load after the exit",
           [] { accesses_after_exit(use_is::load, cudaErrorLaunchFailure); });
  in_child("a store after the exit", [] { accesses_after_exit(use_is::store, cudaSuccess); });
  in_child("an atomic after the exit",
           [] { accesses_after_exit(use_is::atomic, cudaErrorLaunchFailure); });
  return outcome("memory of other blocks");
}
