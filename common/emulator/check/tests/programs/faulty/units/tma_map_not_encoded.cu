// The map is not encoded, because a box may have at most 256 elements per dimension. The program
// ignores the error.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int width = 512, height = 1, box_elements = width * height;

__global__ void load(const __grid_constant__ CUtensorMap map, short* out) {
  __shared__ alignas(128) short box[box_elements];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    arrive_and_expect(&full, box_elements * sizeof(short));
    load_box(box, &map, 0, 0, &full);  // finding: failed
  }
  __syncthreads();
  wait_for_phase(&full, 0);
  out[threadIdx.x] = box[threadIdx.x];
}

int main() {
  short* const in = make_array<short>(box_elements, [](int i) { return i; });
  short* out;
  cudaMalloc(&out, box_elements * sizeof(short));
  const cuuint64_t sizes[] = {width, height}, strides[] = {width * sizeof(short)};
  const cuuint32_t box[] = {width, height}, steps[] = {1, 1};
  CUtensorMap map{};
  const auto encode = encode_function();
  encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, in, sizes, strides, box, steps,
         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  load<<<1, box_elements>>>(map, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
