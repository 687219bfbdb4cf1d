// A warp edits and publishes a map, but does not acquire it before the copy.
#include "common/emulator/check/tests/programs/async_units.hpp"

__device__ void set_matrix(CUtensorMap* map, const int* matrix) {
  asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(
                   shared_address(map)),
               "l"(matrix)
               : "memory");
}
__device__ void publish(CUtensorMap* map, const CUtensorMap* edited) {
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%0], [%1], 128;" ::"l"(map),
      "r"(shared_address(edited))
      : "memory");
}

__global__ void load(const __grid_constant__ CUtensorMap other, CUtensorMap* map, const int* in,
                     int* out) {
  __shared__ alignas(128) CUtensorMap edited;
  __shared__ alignas(128) int box[32];
  __shared__ mbarrier full;
  if (threadIdx.x < 16) edited.opaque[threadIdx.x] = other.opaque[threadIdx.x];
  __syncwarp();
  if (threadIdx.x == 0) set_matrix(&edited, in);
  __syncwarp();
  publish(map, &edited);  // finding: missing_fence any
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
  load<<<1, 32>>>(map_of(in, CU_TENSOR_MAP_DATA_TYPE_INT32, sizeof(int), 32, 1, 32, 1), map,
                  in + 32, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  cudaFree(map);
}
