// The box's address is only a multiple of 64, but a tensor copy needs a multiple of 128.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int width = 16, height = 4, box_elements = width * height;

__global__ void load(const __grid_constant__ CUtensorMap map, short* out) {
  __shared__ alignas(128) short memory[32 + box_elements];
  short* const box = memory + 32;
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    arrive_and_expect(&full, box_elements * sizeof(short));
    load_box(box, &map, 0, 2, &full);  // finding: misaligned
  }
  __syncthreads();
  wait_for_phase(&full, 0);
  out[threadIdx.x] = box[threadIdx.x];
}

int main() {
  short* const in = make_array<short>(box_elements, [](int i) { return i; });
  short* out;
  cudaMalloc(&out, box_elements * sizeof(short));
  const CUtensorMap map =
      map_of(in, CU_TENSOR_MAP_DATA_TYPE_UINT16, sizeof(short), width, height, width, height);
  load<<<1, box_elements>>>(map, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
