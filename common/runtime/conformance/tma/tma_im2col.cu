// Copies in im2col mode: the pixels of a column are those of a bounding box in images of one, two
// and three dimensions, row by row and image by image. Offsets shift loads, but not stores and
// reductions. All shared memory around a box, and the whole tensor, is compared with a model.
#include "expect.hpp"
#include "tma/tensor_shape.hpp"
#include "tma/tile_copies.hpp"

constexpr unsigned window_bytes = 24 * 1024, threads = 128;
constexpr unsigned char untouched = 0xee;

struct pixel_offsets {
  unsigned short at[3];
};

template <int Rank>
__device__ void load_pixels(unsigned to, const void* map, const box_start& c, unsigned barrier,
                            const pixel_offsets& o) {
  if constexpr (Rank == 3)
    asm volatile(
        "cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%1, {%2, %3, %4}], {%6};\n"
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4}], [%5], {%6};" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(barrier), "h"(o.at[0])
        : "memory");
  if constexpr (Rank == 4)
    asm volatile(
        "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%1, {%2, %3, %4, %5}], {%7, %8};\n"
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(barrier),
        "h"(o.at[0]), "h"(o.at[1])
        : "memory");
  if constexpr (Rank == 5)
    asm volatile(
        "cp.async.bulk.prefetch.tensor.5d.L2.global.im2col [%1, {%2, %3, %4, %5, %6}], "
        "{%8, %9, %10};\n"
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10};" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]),
        "r"(barrier), "h"(o.at[0]), "h"(o.at[1]), "h"(o.at[2])
        : "memory");
}

template <int Rank>
__global__ void load(const __grid_constant__ CUtensorMap map, box_start start,
                     pixel_offsets offsets, unsigned shift, unsigned bytes, unsigned char* out,
                     unsigned* base) {
  extern __shared__ __align__(1024) unsigned char window[];
  __shared__ __align__(8) unsigned long long barrier;
  for (unsigned i = threadIdx.x; i < window_bytes; i += threads) window[i] = untouched;
  if (threadIdx.x == 0) init_barrier(shared_address(&barrier));
  fence_proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    expect_bytes(shared_address(&barrier), bytes);
    load_pixels<Rank>(shared_address(window + shift), &map, start, shared_address(&barrier),
                      offsets);
  }
  wait_for_phase(shared_address(&barrier), 0);
  for (unsigned i = threadIdx.x; i < window_bytes; i += threads) out[i] = window[i];
  if (threadIdx.x == 0) *base = shared_address(window);
}

template <bool Adds>
__global__ void store(const __grid_constant__ CUtensorMap map, box_start c,
                      const unsigned char* in) {
  extern __shared__ __align__(1024) unsigned char window[];
  for (unsigned i = threadIdx.x; i < window_bytes; i += threads) window[i] = in[i];
  fence_proxy();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if constexpr (Adds)
    asm volatile(
        "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group "
        "[%0, {%1, %2, %3, %4}], [%5];" ::"l"(&map),
        "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(shared_address(window))
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%0, {%1, %2, %3, %4}], [%5];" ::"l"(&map),
        "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(shared_address(window))
        : "memory");
  wait_for_stores();
}

// A tensor_shape whose box is {channels, pixels}, with the corners of its bounding box.
struct pixel_shape {
  tensor_shape tensor;
  std::vector<int> lower, upper;

  unsigned batch() const { return tensor.rank() - 1; }
  unsigned moved_bytes() const { return tensor.box[0] * tensor.box[1] * tensor.element; }

  CUresult try_encode(CUtensorMap& map, void* address) const {
    std::uint64_t strides[5] = {};
    for (unsigned d = 1; d < tensor.rank(); ++d) strides[d - 1] = tensor.stride(d);
    static const auto encode =
        driver_function<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
    return encode(&map, tensor.type, tensor.rank(), address, tensor.sizes.data(), strides,
                  lower.data(), upper.data(), tensor.box[0], tensor.box[1], tensor.steps.data(),
                  CU_TENSOR_MAP_INTERLEAVE_NONE, tensor.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  tensor.fill);
  }
  CUtensorMap map_of(void* address) const {
    CUtensorMap map;
    if (const CUresult failed = try_encode(map, address)) {
      std::printf("cuTensorMapEncodeIm2col returned %d\n", static_cast<int>(failed));
      std::exit(1);
    }
    return map;
  }

  // Two offsets have 8 bits each. Three offsets have 5 bits each, and a larger one spills into the
  // next.
  unsigned offset_in(unsigned dimension, const pixel_offsets& offsets) const {
    const unsigned given = offsets.at[dimension - 1];
    if (tensor.rank() == 3) return given;
    if (tensor.rank() == 4) return given % 256;
    const unsigned all = offsets.at[0] + offsets.at[1] * 32 + offsets.at[2] * 1024;
    return all >> (dimension - 1) * 5 & 31;
  }

  // Calls use(offset in the tensor, offset in the box) for the elements of the column at `start`;
  // outside of the tensor, the first offset is -1. `whole_chunks`: as for tensor_shape.
  template <class Use>
  void each_element(const std::vector<int>& start, const pixel_offsets& offsets, Use use,
                    bool whole_chunks = false) const {
    std::vector<std::int64_t> at(start.begin(), start.end());
    const std::uint64_t row =
        whole_chunks ? (tensor.sizes[0] * tensor.element + 15) / 16 * 16 / tensor.element
                     : tensor.sizes[0];
    for (unsigned pixel = 0; pixel < tensor.box[1]; ++pixel) {
      for (unsigned c = 0; c < tensor.box[0]; ++c) {
        bool is_inside = true;
        std::int64_t from = 0;
        for (unsigned d = 0; d < tensor.rank(); ++d) {
          std::int64_t place = at[d];
          if (d == 0) place += c;
          if (d > 0 && d < batch()) place += offset_in(d, offsets);
          is_inside &=
              place >= 0 && place < static_cast<std::int64_t>(d == 0 ? row : tensor.sizes[d]);
          from += place * static_cast<std::int64_t>(tensor.stride(d));
        }
        use(is_inside ? from : -1, pixel * tensor.row_pitch() + c * tensor.element);
      }
      unsigned d = 1;
      for (; d < batch(); ++d) {
        at[d] += tensor.steps[d];
        if (at[d] < static_cast<std::int64_t>(tensor.sizes[d]) + upper[d - 1]) break;
        at[d] = lower[d - 1];
      }
      if (d == batch()) at[d] += tensor.steps[d];
    }
  }
};

struct load_case {
  const char* name;
  pixel_shape shape;
  std::vector<int> start;
  pixel_offsets offsets = {};
  unsigned shift = 0;
};

int wrong_in(const load_case& c) {
  const tensor_shape& t = c.shape.tensor;
  const bytes tensor = distinct_bytes(t.total_bytes());
  const device_array<unsigned char> global(tensor), out(window_bytes);
  const device_array<unsigned> base_found(1);
  box_start start{};
  for (unsigned d = 0; d < t.rank(); ++d) start.at[d] = c.start[d];
  const CUtensorMap map = c.shape.map_of(global.get());
  const auto kernel = t.rank() == 3 ? load<3> : t.rank() == 4 ? load<4> : load<5>;
  kernel<<<1, threads, window_bytes>>>(map, start, c.offsets, c.shift, c.shape.moved_bytes(),
                                       out.get(), base_found.get());
  finish();
  const std::uint64_t base = base_found.values()[0];
  bytes expected(window_bytes, untouched);
  const bool fills_nan = t.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  constexpr unsigned short nan[2] = {0x7ff7, 0x7ff7};
  c.shape.each_element(c.start, c.offsets, [&](std::int64_t from, std::uint64_t to) {
    const std::uint64_t at = t.swizzled(base + c.shift + to) - base;
    if (from >= 0)
      std::memcpy(&expected[at], &tensor[from], t.element);
    else if (fills_nan)
      std::memcpy(&expected[at], nan, t.element);
    else
      std::memset(&expected[at], 0, t.element);
  });
  return differs(c.name, out.values(), expected);
}

std::vector<load_case> load_cases() {
  constexpr auto u16 = CU_TENSOR_MAP_DATA_TYPE_UINT16;
  constexpr auto s32 = CU_TENSOR_MAP_DATA_TYPE_INT32;
  constexpr auto f16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  constexpr auto plain = CU_TENSOR_MAP_SWIZZLE_NONE;
  constexpr auto nan = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  // A filter of 3 x 3 on images of 9 x 7 pixels: without padding, and with a border of one pixel.
  const tensor_shape images{u16, 2, {40, 9, 7, 3}, {16, 50}};
  const pixel_shape inner{images, {0, 0}, {-2, -2}}, padded{images, {-1, -1}, {-1, -1}};
  tensor_shape stepped = images;
  stepped.steps = {1, 2, 3, 1, 1};
  tensor_shape stepped_in_batch = images;
  stepped_in_batch.steps = {1, 1, 1, 2, 1};
  tensor_shape stepped_in_channels = images;
  stepped_in_channels.steps = {2, 1, 1, 1, 1};
  tensor_shape filled{f16, 2, {40, 9, 7, 3}, {16, 50}, {1, 1, 1, 1, 1}, plain, nan};
  std::vector<load_case> cases = {
      {"1 dimension", {{s32, 4, {20, 31, 4}, {8, 40}}, {-2}, {-1}}, {4, 20, 1}, {{3}}},
      {"1 dimension, whole image", {{s32, 4, {20, 31, 4}, {8, 40}}, {0}, {0}}, {0, 0, 0}},
      {"inner pixels", inner, {8, 2, 3, 0}},
      {"inner pixels with offsets", inner, {8, 2, 3, 0}, {{2, 1}}},
      {"padded pixels", padded, {0, -1, -1, 0}},
      {"padded pixels with offsets", padded, {0, -1, -1, 0}, {{1, 2}}},
      {"into the next image", inner, {0, 5, 4, 1}, {{2, 2}}},
      {"past the last image", padded, {0, 7, 5, 2}, {{1, 1}}},
      {"before the first image", padded, {0, -1, -1, -1}},
      {"channels past the end", inner, {32, 0, 0, 0}, {{1, 1}}},
      {"channels before the start", inner, {-8, 0, 0, 0}},
      {"steps", {stepped, {-1, -1}, {-1, -1}}, {8, -1, -1, 0}, {{1, 1}}},
      {"steps, from an odd pixel", {stepped, {-1, -1}, {-1, -1}}, {8, 2, 1, 0}, {{0, 2}}},
      {"a step in the batch", {stepped_in_batch, {0, 0}, {-2, -2}}, {0, 3, 4, 0}},
      {"a step of the channels, which has no effect",
       {stepped_in_channels, {0, 0}, {-2, -2}},
       {8, 3, 4, 0}},
      {"offsets of more than 8 bits", inner, {8, 2, 3, 0}, {{256 + 2, 512 + 1}}},
      {"upper corner outside of the image", {images, {-2, -3}, {2, 1}}, {0, 8, 7, 0}},
      {"volumes", {{s32, 4, {12, 5, 4, 3, 2}, {8, 90}}, {-1, 0, -1}, {0, -1, -1}}, {0, 3, 1, 1, 0}},
      {"volumes with offsets",
       {{s32, 4, {12, 5, 4, 3, 2}, {8, 90}}, {-1, 0, -1}, {-1, -1, -1}},
       {4, -1, 0, -1, 0},
       {{2, 1, 1}}},
      {"volumes with offsets of more than 5 bits",
       {{s32, 4, {12, 5, 4, 3, 2}, {8, 90}}, {-1, 0, -1}, {-1, -1, -1}},
       {4, -1, 0, -1, 0},
       {{32 + 2, 0, 1}}},
      {"NaN around images", {filled, {-1, -1}, {-1, -1}}, {32, -1, -1, 2}, {{0, 2}}},
  };
  const CUtensorMapSwizzle swizzles[] = {CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B,
                                         CU_TENSOR_MAP_SWIZZLE_128B};
  for (const CUtensorMapSwizzle swizzle : swizzles) {
    for (const unsigned channels : {8u << swizzle, 4u << swizzle}) {
      tensor_shape swizzled = images;
      swizzled.sizes[0] = 72;
      swizzled.box = {channels, 33};
      swizzled.swizzle = swizzle;
      if (channels * 2 % 16 == 0)
        cases.push_back({"swizzled", {swizzled, {-1, -1}, {-1, -1}}, {8, 3, 2, 1}, {{1, 0}}, 384});
    }
  }
  return cases;
}

// Stores and reductions of a column of 4-byte integers, at `start`.
int wrong_in_store(const char* name, const pixel_shape& shape, const std::vector<int>& start,
                   bool adds) {
  const tensor_shape& t = shape.tensor;
  const bytes window = distinct_bytes(window_bytes);
  bytes expected(t.total_bytes(), 0x11);
  const device_array<unsigned char> global(expected), in(window);
  const box_start at{{start[0], start[1], start[2], start[3]}};
  const auto kernel = adds ? store<true> : store<false>;
  kernel<<<1, threads, window_bytes>>>(shape.map_of(global.get()), at, in.get());
  finish();
  const auto store_element = [&](std::int64_t to, std::uint64_t from) {
    if (to < 0 || to >= static_cast<std::int64_t>(expected.size())) return;
    std::uint32_t value, before;
    std::memcpy(&value, &window[from], sizeof value);
    std::memcpy(&before, &expected[to], sizeof before);
    if (adds) value += before;
    std::memcpy(&expected[to], &value, sizeof value);
  };
  shape.each_element(start, {}, store_element, true);
  return differs(name, global.values(), expected);
}

// Images of 9 x 7 pixels with 20 channels.
template <bool Adds>
void check_store(const char* name, int lower, int upper, const std::vector<int>& start) {
  const tensor_shape images{CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, {20, 9, 7, 3}, {8, 50}};
  const pixel_shape shape{images, {lower, lower}, {upper, upper}};
  EXPECT_TRUE(wrong_in_store(name, shape, start, Adds) == 0);
}

template <bool Adds>
void store_whole_images() {
  check_store<Adds>("whole images", 0, 0, {8, 2, 3, 0});
}
template <bool Adds>
void store_inner_pixels() {
  check_store<Adds>("inner pixels", 0, -2, {8, 2, 3, 0});
}
template <bool Adds>
void store_right_and_lower_pixels() {
  check_store<Adds>("right and lower pixels", 1, 0, {8, 2, 3, 0});
}
template <bool Adds>
void store_past_the_last_image() {
  check_store<Adds>("past the last image", 0, -2, {16, 5, 4, 2});
}

struct request {
  const char* name;
  void (*change)(pixel_shape&);
  CUresult outcome = CUDA_ERROR_INVALID_VALUE;
};

const request requests[] = {
    {"no change", [](pixel_shape&) {}, CUDA_SUCCESS},
    {"the widest corners",
     [](pixel_shape& s) {
       s.lower = {-128, -128}, s.upper = {127, 127};
     },
     CUDA_SUCCESS},
    {"the largest column", [](pixel_shape& s) { s.tensor.box[1] = 1024; }, CUDA_SUCCESS},
    {"a lower corner of -129", [](pixel_shape& s) { s.lower[0] = -129; }},
    {"an upper corner of 128", [](pixel_shape& s) { s.upper[1] = 128; }},
    {"an empty bounding box", [](pixel_shape& s) { s.lower[0] = 7; }},
    {"no channels", [](pixel_shape& s) { s.tensor.box[0] = 0; }},
    {"257 channels", [](pixel_shape& s) { s.tensor.box[0] = 257; }},
    {"no pixels", [](pixel_shape& s) { s.tensor.box[1] = 0; }},
    {"1025 pixels", [](pixel_shape& s) { s.tensor.box[1] = 1025; }},
    {"a pixel of 8 bytes", [](pixel_shape& s) { s.tensor.box[0] = 4; }},
    {"a pixel wider than the swizzle",
     [](pixel_shape& s) { s.tensor.box[0] = 24, s.tensor.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; }},
    {"a column of 256 KB",
     [](pixel_shape& s) {
       s.tensor.box = {128, 1024};
     }},
    {"a step of 9", [](pixel_shape& s) { s.tensor.steps[1] = 9; }},
    {"two dimensions", [](pixel_shape& s) { s.tensor.sizes.resize(2); }},
};

void check_loads() {
  for (const load_case& c : load_cases()) EXPECT_TRUE(wrong_in(c) == 0);
}

void check_requests() {
  const device_array<unsigned char> global(1 << 16);
  for (const request& r : requests) {
    pixel_shape shape{
        {CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, {40, 9, 7, 3}, {16, 50}}, {0, 0, 0}, {-2, -2, 0}};
    r.change(shape);
    CUtensorMap map;
    const CUresult found = shape.try_encode(map, global.get());
    ++expectations;
    if (found == r.outcome) continue;
    ++broken_expectations;
    std::printf("%s: result %d, expected %d\n", r.name, static_cast<int>(found),
                static_cast<int>(r.outcome));
  }
}

int main() {
  in_child("loads", check_loads);
  in_child("requests", check_requests);
  in_child("a store of whole images", store_whole_images<false>);
  in_child("a store of inner pixels", store_inner_pixels<false>);
  in_child("a store of right and lower pixels", store_right_and_lower_pixels<false>);
  in_child("a store past the last image", store_past_the_last_image<false>);
  in_child("a sum of whole images", store_whole_images<true>);
  in_child("a sum of inner pixels", store_inner_pixels<true>);
  in_child("a sum of right and lower pixels", store_right_and_lower_pixels<true>);
  in_child("a sum past the last image", store_past_the_last_image<true>);
  return outcome("columns of pixels");
}
