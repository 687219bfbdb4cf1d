// Tiles of 8 and 32 threads that synchronise and reduce.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void sums(const int* x, int* out) {
  __shared__ int line[64];
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto tile = cg::tiled_partition<8>(warp);
  const int i = block.thread_rank();
  line[i] = x[i];
  tile.sync();
  int mine = line[i ^ 7];
  tile.sync();
  line[i] = mine;
  warp.sync();
  mine += line[i ^ 31];
  block.sync();
  mine += line[63 - i];
  out[i] = cg::reduce(tile, mine, cg::plus<int>()) + cg::reduce(warp, 1, cg::plus<int>());
}

int main() {
  int host[64], *x, *out;
  for (int i = 0; i < 64; ++i) host[i] = 1;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  sums<<<1, 64>>>(x, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  return host[0] == 56 && host[63] == 56 ? 0 : 1;
}
