// The outcomes of loads in im2col mode that begin outside the bounding box or in the middle of 16
// bytes, of stores with a bounding box that begins outside the images, and of copies with a map for
// the other mode.
#include "expect.hpp"
#include "tma/tensor_shape.hpp"
#include "tma/tile_copies.hpp"

// Images of 9 x 7 pixels with 40 channels of 2 bytes.
constexpr unsigned channels = 16, pixels = 50;
const tensor_shape images{CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, {40, 9, 7, 3}, {channels, 2, 2, 1}};

template <bool Im2col>
__global__ void load(const __grid_constant__ CUtensorMap map, box_start c) {
  __shared__ __align__(1024) unsigned char window[channels * 2 * pixels];
  __shared__ __align__(8) unsigned long long barrier;
  if (threadIdx.x != 0) return;
  const unsigned box = shared_address(window), at = shared_address(&barrier);
  init_barrier(at);
  fence_proxy();
  expect_bytes(at, sizeof window);
  constexpr unsigned short no_offset = 0;
  if constexpr (Im2col)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %7};" ::"r"(box),
        "l"(&map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(at), "h"(no_offset)
        : "memory");
  else
    load_box<4>(box, &map, c, at);
  wait_for_phase(at, 0);
}

__global__ void store(const __grid_constant__ CUtensorMap map, box_start c) {
  __shared__ __align__(1024) unsigned char window[channels * 2 * pixels];
  for (unsigned i = threadIdx.x; i < sizeof window; i += blockDim.x) window[i] = 1;
  fence_proxy();
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
      "[%0, {%1, %2, %3, %4}], [%5];" ::"l"(&map),
      "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(shared_address(window))
      : "memory");
  wait_for_stores();
}

// A map whose bounding box has these corners, the same in both dimensions. By default, the box
// excludes the last two columns and rows of the images.
CUtensorMap map_of_pixels(void* address, int first = 0, int last = -2) {
  std::uint64_t strides[3];
  for (unsigned d = 1; d < 4; ++d) strides[d - 1] = images.stride(d);
  const int lower[2] = {first, first}, upper[2] = {last, last};
  CUtensorMap map;
  const auto encode =
      driver_function<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  if (encode(&map, images.type, 4, address, images.sizes.data(), strides, lower, upper, channels,
             pixels, images.steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, images.swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, images.fill) != CUDA_SUCCESS)
    std::exit(1);
  return map;
}

void ends_with(box_start c, cudaError_t expected, bool has_map_of_pixels, bool loads_pixels) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, images.total_bytes()));
  const CUtensorMap map = has_map_of_pixels ? map_of_pixels(memory) : images.map_of(memory);
  const auto kernel = loads_pixels ? load<true> : load<false>;
  kernel<<<1, 32>>>(map, c);
  EXPECT(cudaDeviceSynchronize(), expected);
}
void store_ends_with(box_start c, int lower, int upper, cudaError_t expected) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, images.total_bytes()));
  store<<<1, 32>>>(map_of_pixels(memory, lower, upper), c);
  EXPECT(cudaDeviceSynchronize(), expected);
}
void ends(box_start c) { ends_with(c, cudaSuccess, true, true); }
void is_illegal(box_start c) { ends_with(c, cudaErrorIllegalInstruction, true, true); }

int main() {
  in_child("the first start", [] { ends({{0, 0, 0, 0}}); });
  in_child("the last start", [] { ends({{0, 6, 4, 0}}); });
  in_child("a start in the middle of 16 bytes", [] { is_illegal({{3, 0, 0, 0}}); });
  in_child("a start right of and below the bounding box", [] { is_illegal({{0, 7, 5, 0}}); });
  in_child("a start right of the bounding box", [] { is_illegal({{0, 7, 0, 0}}); });
  in_child("a start below the bounding box", [] { is_illegal({{0, 0, 5, 0}}); });
  in_child("a start left of and above the bounding box", [] { is_illegal({{0, -2, -2, 0}}); });
  in_child("a start left of the bounding box", [] { is_illegal({{0, -1, 0, 0}}); });
  in_child("a start above the bounding box", [] { is_illegal({{0, 0, -1, 0}}); });
  in_child("a store in a bounding box inside of the images", [] {
    store_ends_with({{0, 2, 3, 0}}, 1, 0, cudaSuccess);
  });
  in_child("a store in a bounding box that begins outside of the images", [] {
    store_ends_with({{0, 2, 3, 0}}, -1, -1, cudaErrorIllegalInstruction);
  });
  in_child("a store that begins outside of the images", [] {
    store_ends_with({{0, 2, -1, 0}}, -1, -1, cudaErrorIllegalInstruction);
  });
  in_child("pixels with a map for tiles", [] {
    ends_with({{0, 0, 0, 0}}, cudaErrorIllegalInstruction, false, true);
  });
  in_child("a tile with a map for pixels", [] {
    ends_with({{0, 0, 0, 0}}, cudaErrorIllegalInstruction, true, false);
  });
  return outcome("columns of pixels that fail");
}
