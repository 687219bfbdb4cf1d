// Loads boxes from tensors of one to five dimensions. The cases include odd sizes, boxes that begin
// or end outside the tensor, element strides, every swizzle, and NaN as the fill. The test compares
// all shared memory around the box with a model, so it also detects a byte at a wrong address.
#include "tma/tensor_shape.hpp"
#include "tma/tile_copies.hpp"

constexpr unsigned window_bytes = 24 * 1024, threads = 128;
constexpr unsigned char untouched = 0xee;

template <int Rank>
__global__ void load(const __grid_constant__ CUtensorMap map, box_start start, unsigned shift,
                     unsigned bytes, unsigned char* out, unsigned* base) {
  extern __shared__ __align__(1024) unsigned char window[];
  __shared__ __align__(8) unsigned long long barrier;
  for (unsigned i = threadIdx.x; i < window_bytes; i += threads) window[i] = untouched;
  if (threadIdx.x == 0) init_barrier(shared_address(&barrier));
  fence_proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    expect_bytes(shared_address(&barrier), bytes);
    load_box<Rank>(shared_address(window + shift), &map, start, shared_address(&barrier));
  }
  wait_for_phase(shared_address(&barrier), 0);
  for (unsigned i = threadIdx.x; i < window_bytes; i += threads) out[i] = window[i];
  if (threadIdx.x == 0) *base = shared_address(window);
}

struct load_case {
  const char* name;
  tensor_shape shape;
  std::vector<int> start;
  unsigned shift = 0;  // of the box in shared memory
};

void launch(const load_case& c, const CUtensorMap& map, unsigned char* out, unsigned* base) {
  box_start start{};
  for (unsigned d = 0; d < c.shape.rank(); ++d) start.at[d] = c.start[d];
  const auto run = [&](auto kernel) {
    kernel<<<1, threads, window_bytes>>>(map, start, c.shift, c.shape.moved_bytes(), out, base);
  };
  switch (c.shape.rank()) {
    case 1:
      return run(load<1>);
    case 2:
      return run(load<2>);
    case 3:
      return run(load<3>);
    case 4:
      return run(load<4>);
    default:
      return run(load<5>);
  }
}

int wrong_in(const load_case& c) {
  const bytes tensor = distinct_bytes(c.shape.total_bytes());
  const device_array<unsigned char> global(tensor), out(window_bytes);
  const device_array<unsigned> base_found(1);
  launch(c, c.shape.map_of(global.get()), out.get(), base_found.get());
  finish();
  const std::uint64_t base = base_found.values()[0];
  bytes expected(window_bytes, untouched);
  // The NaN that fills has these bits in every 16 bits, whatever the type is.
  const bool fills_nan = c.shape.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  constexpr unsigned short fill[2] = {0x7ff7, 0x7ff7};
  c.shape.each_element(c.start, [&](std::int64_t from, std::uint64_t to) {
    const std::uint64_t at = c.shape.swizzled(base + c.shift + to) - base;
    if (from >= 0)
      std::memcpy(&expected[at], &tensor[from], c.shape.element);
    else if (fills_nan)
      std::memcpy(&expected[at], fill, c.shape.element);
    else
      std::memset(&expected[at], 0, c.shape.element);
  });
  return differs(c.name, out.values(), expected);
}

std::vector<load_case> plain_cases() {
  using shape = tensor_shape;
  constexpr auto u8 = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  constexpr auto u16 = CU_TENSOR_MAP_DATA_TYPE_UINT16;
  constexpr auto s32 = CU_TENSOR_MAP_DATA_TYPE_INT32;
  constexpr auto f64 = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  const shape line{s32, 4, {1001}, {256}};
  const shape plane{s32, 4, {101, 57}, {20, 9}};
  const shape narrow{u8, 1, {83, 31}, {48, 7}};
  const shape halves{u16, 2, {61, 19, 7}, {24, 5, 3}};
  const shape doubles{f64, 8, {13, 11, 5, 3}, {6, 4, 3, 2}};
  const shape five{s32, 4, {9, 7, 5, 4, 3}, {8, 3, 2, 3, 2}};
  return {
      {"1-D, inside", line, {500}},
      {"1-D, past the end", line, {900}},
      {"1-D, before the start", line, {-4}},
      {"1-D, outside", line, {5000}},
      {"2-D, inside", plane, {4, 8}},
      {"2-D, an odd row", plane, {8, 3}},
      {"2-D, before the start", plane, {-4, -2}},
      {"2-D, past the corner", plane, {88, 52}},
      {"2-D, outside in one dimension", plane, {4, -20}},
      {"2-D, far outside", plane, {-2147483647 - 1, 2147483647}},
      {"2-D, bytes", narrow, {-16, 27}},
      {"2-D, larger than the tensor", {s32, 4, {11, 5}, {16, 8}}, {-4, -1}},
      {"3-D", halves, {40, -1, 5}},
      {"4-D", doubles, {8, 9, -1, 2}},
      {"5-D, inside", five, {0, 2, 1, 1, 1}},
      {"5-D, clipped everywhere", five, {-4, 6, -1, 3, -1}},
  };
}

std::vector<load_case> stepped_cases() {
  constexpr auto s32 = CU_TENSOR_MAP_DATA_TYPE_INT32;
  return {
      {"steps of 2", {s32, 4, {64, 40}, {16, 8}, {1, 2, 1, 1, 1}}, {4, 3}},
      {"steps of 3, not a whole number", {s32, 4, {64, 40}, {16, 8}, {1, 3, 1, 1, 1}}, {-4, 33}},
      {"steps of 8 and 5", {s32, 4, {32, 40, 30}, {8, 16, 11}, {1, 8, 5, 1, 1}}, {4, 2, -3}},
      {"a step of dimension 0", {s32, 4, {64, 40}, {16, 4}, {4, 1, 1, 1, 1}}, {4, 3}},
  };
}

// Boxes at all places relative to the pattern of a swizzle.
std::vector<load_case> swizzled_cases() {
  constexpr auto s32 = CU_TENSOR_MAP_DATA_TYPE_INT32;
  constexpr auto u16 = CU_TENSOR_MAP_DATA_TYPE_UINT16;
  const struct {
    CUtensorMapSwizzle mode;
    unsigned width;
    const char* name;
  } modes[] = {{CU_TENSOR_MAP_SWIZZLE_32B, 32, "swizzle of 32 bytes"},
               {CU_TENSOR_MAP_SWIZZLE_64B, 64, "swizzle of 64 bytes"},
               {CU_TENSOR_MAP_SWIZZLE_128B, 128, "swizzle of 128 bytes"}};
  std::vector<load_case> cases;
  for (const auto& m : modes) {
    for (unsigned shift = 0; shift < 1024; shift += 128)
      cases.push_back(
          {m.name, {s32, 4, {77, 40}, {m.width / 4, 24}, {1, 1, 1, 1, 1}, m.mode}, {4, 5}, shift});
    cases.push_back({m.name,
                     {u16, 2, {75, 9, 6}, {m.width / 2, 5, 4}, {1, 1, 1, 1, 1}, m.mode},
                     {-8, 6, -1},
                     256});
    cases.push_back(
        {m.name, {u16, 2, {75, 9}, {m.width / 4, 5}, {1, 1, 1, 1, 1}, m.mode}, {8, 2}, 128});
  }
  return cases;
}

std::vector<load_case> nan_cases() {
  constexpr auto nan = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  constexpr auto none = CU_TENSOR_MAP_SWIZZLE_NONE;
  return {
      {"NaN around f32",
       {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, {30, 20}, {16, 8}, {1, 1, 1, 1, 1}, none, nan},
       {20, -3}},
      {"NaN around f16",
       {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, {30, 20}, {16, 8}, {1, 1, 1, 1, 1}, none, nan},
       {-8, 15}},
      {"NaN around bf16",
       {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, {30, 20}, {16, 8}, {1, 1, 1, 1, 1}, none, nan},
       {-8, 15}},
  };
}

int main() {
  int wrong = 0, count = 0;
  for (const auto& cases : {plain_cases(), stepped_cases(), swizzled_cases(), nan_cases()}) {
    for (const load_case& c : cases) {
      wrong |= wrong_in(c);
      ++count;
    }
  }
  std::printf("loads of %d boxes: %s\n", count, wrong == 0 ? "all right" : "wrong");
  return wrong;
}
