// The wait leaves two copies pending, so the last copy from the next slot may still be reading.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int width = 64, rows = 5;

__global__ void fill(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int ring[2][width];
  for (int row = 0; row < rows; ++row) {
    if (threadIdx.x == 0) wait_for_reads<2>();
    __syncthreads();
    // finding: race writes object=ring
    ring[row % 2][threadIdx.x] = width * row + threadIdx.x;
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
      store_box(&map, 0, row, ring[row % 2]);  // finding: race reads|copies
      commit_stores();
    }
  }
  if (threadIdx.x == 0) wait_for_reads<0>();
}

int main() {
  int* const out = make_array<int>(rows * width, [](int) { return 0; });
  fill<<<1, width>>>(
      map_of(out, CU_TENSOR_MAP_DATA_TYPE_INT32, sizeof(int), width, rows, width, 1));
  cudaDeviceSynchronize();
  cudaFree(out);
}
