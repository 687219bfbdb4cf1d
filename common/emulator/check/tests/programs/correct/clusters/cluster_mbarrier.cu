// A block writes into the other block's memory and arrives at that block's mbarrier, which waits.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
__device__ unsigned in_block(const void* own, unsigned rank) {
  unsigned at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(at)
               : "r"(shared_address(own)), "r"(rank));
  return at;
}

__global__ void __cluster_dims__(2, 1, 1) exchange(int* x) {
  __shared__ int box[32];
  __shared__ alignas(8) unsigned long long full;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned other = cluster.block_rank() ^ 1;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(shared_address(&full)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  cluster.map_shared_rank(box, other)[threadIdx.x] = threadIdx.x;
  asm volatile(
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(in_block(&full, other))
      : "memory");
  int done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;"
        " selp.s32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(shared_address(&full))
        : "memory");
  x[blockIdx.x * 32 + threadIdx.x] = box[31 - threadIdx.x];
  cluster.sync();
}

int main() {
  int* x;
  cudaMalloc(&x, 4 * 32 * sizeof(int));
  exchange<<<4, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
