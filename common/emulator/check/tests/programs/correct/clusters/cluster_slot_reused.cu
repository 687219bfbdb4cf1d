// Two warps of block 1 read a slot and meet at a named barrier. One of their threads then arrives
// at an mbarrier of block 0, whose thread writes the slot again.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int readers = 64, rounds = 4;

__device__ unsigned in_block_of(const void* own, unsigned rank) {
  unsigned at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(at)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(own))), "r"(rank));
  return at;
}
__device__ void arrive_in(const unsigned long long* own, unsigned rank) {
  asm volatile(
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(in_block_of(own, rank))
      : "memory");
}
__device__ void wait_for(const unsigned long long* own, int parity) {
  int done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;"
        " selp.s32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(static_cast<unsigned>(__cvta_generic_to_shared(own))), "r"(parity)
        : "memory");
}

__global__ void __cluster_dims__(2, 1, 1) pass_through_a_slot(int* sums) {
  __shared__ int slot[readers];
  __shared__ alignas(8) unsigned long long full, empty;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    for (const auto* barrier : {&full, &empty})
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(
          in_block_of(barrier, cluster.block_rank())));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    for (int round = 0; round < rounds; ++round) {
      if (round != 0) wait_for(&empty, (round - 1) % 2);
      for (int i = 0; i < readers; ++i) cluster.map_shared_rank(slot, 1)[i] = round + i;
      arrive_in(&full, 1);
    }
  }
  if (cluster.block_rank() == 1 && threadIdx.x < readers) {
    for (int round = 0; round < rounds; ++round) {
      wait_for(&full, round % 2);
      sums[threadIdx.x] += slot[threadIdx.x];
      asm volatile("bar.sync 1, 64;" ::: "memory");
      if (threadIdx.x == 0) arrive_in(&empty, 0);
    }
  }
  cluster.sync();
}

int main() {
  int* sums;
  cudaMalloc(&sums, readers * sizeof(int));
  cudaMemset(sums, 0, readers * sizeof(int));
  pass_through_a_slot<<<2, 96>>>(sums);
  cudaDeviceSynchronize();
  cudaFree(sums);
}
