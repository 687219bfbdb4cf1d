// Threads of a cooperative group execute different operations. Both operations are ballots.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void votes(int* out) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int t = threadIdx.x;
  if (tile.thread_rank() == 0)
    out[t] = tile.all(t < 3);  // finding: barrier_divergence ballot
  else
    out[t] = tile.any(t < 5);  // finding: barrier_divergence ballot
}

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  votes<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
