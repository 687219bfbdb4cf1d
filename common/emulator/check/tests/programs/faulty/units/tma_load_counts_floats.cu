// The mbarrier expects the bytes of 32-bit elements, but the elements have 16 bits.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int width = 16, height = 4, box_elements = width * height;

__global__ void load(const __grid_constant__ CUtensorMap map, short* out) {
  __shared__ alignas(128) short box[box_elements];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    arrive_and_expect(&full, box_elements * sizeof(float));  // finding: arrivals
    load_box(box, &map, 0, 2, &full);                        // finding: copies
  }
  __syncthreads();
  // finding: endless poll object=full says=lacks_128_of_256_announced_bytes
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
