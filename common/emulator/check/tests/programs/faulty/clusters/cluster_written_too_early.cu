// Overwrites its line while the other block may still read it: the second round lacks a barrier.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) rounds(int* x) {
  __shared__ int line[64];
  const cg::cluster_group cluster = cg::this_cluster();
  const int* const other = cluster.map_shared_rank(line, cluster.block_rank() ^ 1);
  int sum = 0;
  for (int round = 0; round < 2; ++round) {
    line[threadIdx.x] = round;  // finding: race writes object=line
    cluster.sync();
    sum += other[threadIdx.x];  // finding: race reads
  }
  x[blockIdx.x * 64 + threadIdx.x] = sum;
  cluster.sync();
}

int main() {
  int* x;
  cudaMalloc(&x, 2 * 64 * sizeof(int));
  rounds<<<2, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
