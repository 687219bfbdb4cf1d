// A warp edits a map directly in global memory. Without tensormap.cp_fenceproxy or a releasing
// proxy fence, the copy may use the old map.
#include "common/emulator/check/tests/programs/async_units.hpp"

__device__ void set_matrix(CUtensorMap* map, const int* matrix) {
  asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(map),
               "l"(matrix)
               : "memory");
}
__device__ void acquire(const CUtensorMap* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

__global__ void load(CUtensorMap* map, const int* in, int* out) {
  __shared__ alignas(128) int box[32];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) set_matrix(map, in);  // finding: missing_fence any
  __syncwarp();
  acquire(map);
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    arrive_and_expect(&full, sizeof box);
    load_box(box, map, 0, 0, &full);  // finding: any
  }
  __syncwarp();
  wait_for_phase(&full, 0);
  out[threadIdx.x] = box[threadIdx.x];
}

int main() {
  int* const in = make_array<int>(64, [](int i) { return i; });
  int* out;
  CUtensorMap* map;
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMalloc(&map, sizeof *map);
  const CUtensorMap other = map_of(in, CU_TENSOR_MAP_DATA_TYPE_INT32, sizeof(int), 32, 1, 32, 1);
  cudaMemcpy(map, &other, sizeof other, cudaMemcpyHostToDevice);
  load<<<1, 32>>>(map, in + 32, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  cudaFree(map);
}
