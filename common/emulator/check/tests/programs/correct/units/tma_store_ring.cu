// Rows pass through two slots. Before the block writes to a slot again, the issuing thread waits
// until at most one copy, the one from the other slot, may still be reading.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int width = 64, rows = 5;

__global__ void fill(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int ring[2][width];
  for (int row = 0; row < rows; ++row) {
    if (threadIdx.x == 0) wait_for_reads<1>();
    __syncthreads();
    ring[row % 2][threadIdx.x] = width * row + threadIdx.x;
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
      store_box(&map, 0, row, ring[row % 2]);
      commit_stores();
    }
  }
  if (threadIdx.x == 0) wait_for_reads<0>();
}

int main() {
  int* const out = make_array<int>(rows * width, [](int) { return 0; });
  fill<<<1, width>>>(
      map_of(out, CU_TENSOR_MAP_DATA_TYPE_INT32, sizeof(int), width, rows, width, 1));
  const bool right = holds(out, rows * width, [](int i) { return i; });
  cudaFree(out);
  return right ? 0 : 1;
}
