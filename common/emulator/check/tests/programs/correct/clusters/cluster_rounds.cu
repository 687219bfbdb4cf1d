// Two barriers per round, atomics into the other block's memory, and a last barrier before the
// exit.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) rounds(int* x) {
  __shared__ int line[64], total;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  if (threadIdx.x == 0) total = 0;
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    line[threadIdx.x] = round + threadIdx.x;
    cluster.sync();
    sum += cluster.map_shared_rank(line, next)[63 - threadIdx.x];
    cluster.sync();
  }
  atomicAdd(cluster.map_shared_rank(&total, 0), sum);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) x[blockIdx.x / 4] = total;
}

int main() {
  int* x;
  cudaMalloc(&x, 2 * sizeof(int));
  rounds<<<8, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
