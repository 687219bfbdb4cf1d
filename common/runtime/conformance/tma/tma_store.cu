// Stores of boxes to tensors of one to five dimensions: boxes that end outside of the tensor,
// element strides, and a swizzle. The whole tensor, with the gaps between its rows, is compared: a
// store writes whole chunks of 16 bytes, and so part of a gap.
#include "tma/tensor_shape.hpp"
#include "tma/tile_copies.hpp"

constexpr unsigned window_bytes = 24 * 1024, threads = 128;

template <int Rank>
__global__ void store(const __grid_constant__ CUtensorMap map, box_start start, unsigned shift,
                      const unsigned char* in, unsigned* base) {
  extern __shared__ __align__(1024) unsigned char window[];
  for (unsigned i = threadIdx.x; i < window_bytes; i += threads) window[i] = in[i];
  fence_proxy();
  __syncthreads();
  if (threadIdx.x != 0) return;
  store_box<Rank>(&map, start, shared_address(window + shift));
  wait_for_stores();
  *base = shared_address(window);
}

struct store_case {
  const char* name;
  tensor_shape shape;
  std::vector<int> start;
  unsigned shift = 0;  // of the box in shared memory
};

void launch(const store_case& c, const CUtensorMap& map, const unsigned char* in, unsigned* base) {
  box_start start{};
  for (unsigned d = 0; d < c.shape.rank(); ++d) start.at[d] = c.start[d];
  const auto run = [&](auto kernel) {
    kernel<<<1, threads, window_bytes>>>(map, start, c.shift, in, base);
  };
  switch (c.shape.rank()) {
    case 1:
      return run(store<1>);
    case 2:
      return run(store<2>);
    case 3:
      return run(store<3>);
    case 4:
      return run(store<4>);
    default:
      return run(store<5>);
  }
}

int wrong_in(const store_case& c) {
  const bytes window = distinct_bytes(window_bytes);
  bytes expected(c.shape.total_bytes(), 0xee);
  const device_array<unsigned char> global(expected), in(window);
  const device_array<unsigned> base_found(1);
  launch(c, c.shape.map_of(global.get()), in.get(), base_found.get());
  finish();
  const std::uint64_t base = base_found.values()[0];
  const auto store_element = [&](std::int64_t to, std::uint64_t from) {
    const std::uint64_t at = c.shape.swizzled(base + c.shift + from) - base;
    if (to >= 0 && to < static_cast<std::int64_t>(expected.size()))
      std::memcpy(&expected[to], &window[at], c.shape.element);
  };
  c.shape.each_element(c.start, store_element, true);
  return differs(c.name, global.values(), expected);
}

int main() {
  constexpr auto u8 = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  constexpr auto u16 = CU_TENSOR_MAP_DATA_TYPE_UINT16;
  constexpr auto s32 = CU_TENSOR_MAP_DATA_TYPE_INT32;
  constexpr auto f64 = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  const store_case cases[] = {
      {"1-D, inside", {s32, 4, {1001}, {256}}, {500}},
      {"1-D, past the end", {s32, 4, {1001}, {256}}, {900}},
      {"2-D, inside", {s32, 4, {101, 57}, {20, 9}}, {8, 3}},
      {"2-D, past the corner", {s32, 4, {101, 57}, {20, 9}}, {88, 52}},
      {"2-D, outside", {s32, 4, {101, 57}, {20, 9}}, {120, 52}},
      {"2-D, bytes", {u8, 1, {83, 31}, {48, 7}}, {48, 27}},
      {"3-D", {u16, 2, {61, 19, 7}, {24, 5, 3}}, {40, 3, 5}},
      {"4-D", {f64, 8, {13, 11, 5, 3}, {6, 4, 3, 2}}, {8, 9, 1, 2}},
      {"5-D", {s32, 4, {9, 7, 5, 4, 3}, {8, 3, 2, 3, 2}}, {4, 6, 1, 3, 1}},
      {"steps of 3 and 2", {s32, 4, {64, 40, 9}, {16, 8, 4}, {1, 3, 2, 1, 1}}, {52, 35, 5}},
      {"swizzle of 32 bytes",
       {s32, 4, {77, 40}, {8, 24}, {1, 1, 1, 1, 1}, CU_TENSOR_MAP_SWIZZLE_32B},
       {72, 5},
       128},
      {"swizzle of 64 bytes",
       {s32, 4, {77, 40}, {16, 24}, {1, 1, 1, 1, 1}, CU_TENSOR_MAP_SWIZZLE_64B},
       {4, 5},
       384},
      {"swizzle of 128 bytes",
       {s32, 4, {77, 40}, {32, 24}, {1, 1, 1, 1, 1}, CU_TENSOR_MAP_SWIZZLE_128B},
       {60, 30},
       640},
  };
  int wrong = 0;
  for (const store_case& c : cases) wrong |= wrong_in(c);
  std::printf("stores of %zu boxes: %s\n", std::size(cases), wrong == 0 ? "all right" : "wrong");
  return wrong;
}
