// Copies of tensors with an interleaved layout: the channels of a pixel are in slices of 16 or 32
// bytes. Dimension 0 counts the pixels of a slice, and the second-to-last dimension counts slices.
// A box has one slice, whatever its size in that dimension. All shared memory around a box, and the
// whole tensor, is compared with a model.
#include "expect.hpp"
#include "tma/tensor_shape.hpp"
#include "tma/tile_copies.hpp"

constexpr unsigned window_bytes = 8 * 1024, threads = 128;
constexpr unsigned char untouched = 0xee;

struct pixel_offsets {
  unsigned short at[2];
};

template <int Rank, bool Im2col>
__device__ void load_slices(unsigned to, const void* map, const box_start& c, unsigned barrier,
                            const pixel_offsets& o) {
  if constexpr (Im2col)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(barrier),
        "h"(o.at[0]), "h"(o.at[1])
        : "memory");
  else
    load_box<Rank>(to, map, c, barrier);
}

// Whether a phase ends within a time that is long enough for every copy.
__device__ bool phase_ends(unsigned barrier) {
  unsigned ends = 0;
  for (int polls = 0; polls < 1000 && ends == 0; ++polls)
    asm volatile(
        "{ .reg .pred done;\n"
        "  mbarrier.try_wait.parity.shared::cta.b64 done, [%1], 0;\n"
        "  selp.u32 %0, 1, 0, done; }"
        : "=r"(ends)
        : "r"(barrier)
        : "memory");
  return ends != 0;
}

// `ended`: whether the mbarrier counted `bytes`.
template <int Rank, bool Im2col>
__global__ void load(const __grid_constant__ CUtensorMap map, box_start start,
                     pixel_offsets offsets, unsigned bytes, unsigned char* out, int* ended) {
  extern __shared__ __align__(1024) unsigned char window[];
  __shared__ __align__(8) unsigned long long barrier;
  for (unsigned i = threadIdx.x; i < window_bytes; i += threads) window[i] = untouched;
  if (threadIdx.x == 0) init_barrier(shared_address(&barrier));
  fence_proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    expect_bytes(shared_address(&barrier), bytes);
    load_slices<Rank, Im2col>(shared_address(window), &map, start, shared_address(&barrier),
                              offsets);
    *ended = phase_ends(shared_address(&barrier));
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < window_bytes; i += threads) out[i] = window[i];
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
        "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group "
        "[%0, {%1, %2, %3}], [%4];" ::"l"(&map),
        "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(shared_address(window))
        : "memory");
  else
    store_box<3>(&map, c, shared_address(window));
  wait_for_stores();
}

enum class copy { load, load_pixels, store, sum };

// The sizes, the box and the steps are those of the map. With load_pixels, the box is {channels,
// pixels}, and the bounding box of images in two dimensions has the corners `lower` and `upper`.
struct copy_case {
  const char* name;
  copy what;
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint32_t> box;
  std::vector<int> start;
  std::vector<std::uint32_t> steps = {1, 1, 1, 1, 1};
  CUtensorMapInterleave layout = CU_TENSOR_MAP_INTERLEAVE_16B;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
  unsigned element = 2;  // bytes
  std::vector<int> lower = {0, 0}, upper = {0, 0};
  pixel_offsets offsets = {};

  unsigned rank() const { return static_cast<unsigned>(sizes.size()); }
  unsigned slice_bytes() const { return layout == CU_TENSOR_MAP_INTERLEAVE_16B ? 16 : 32; }

  // The same tensor without interleaving. It has one more dimension: dimension 0 is a slice.
  tensor_shape plain() const {
    const unsigned slice = slice_bytes() / element;
    tensor_shape shape{type, element, {slice}, {slice}, {1}, swizzle};
    shape.sizes.insert(shape.sizes.end(), sizes.begin(), sizes.end());
    shape.box.insert(shape.box.end(), box.begin(), box.end());
    shape.steps.insert(shape.steps.end(), steps.begin(), steps.end());
    if (what != copy::load_pixels) shape.box[rank() - 1] = 1;
    return shape;
  }
  unsigned moved_bytes() const {
    return what == copy::load_pixels ? box[1] * slice_bytes() : plain().moved_bytes();
  }

  CUtensorMap map_of(void* address) const {
    const tensor_shape shape = plain();
    std::uint64_t strides[4] = {};
    for (unsigned d = 1; d < rank(); ++d) strides[d - 1] = shape.stride(d + 1);
    CUtensorMap map;
    constexpr auto none = CU_TENSOR_MAP_L2_PROMOTION_NONE;
    constexpr auto zero = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    static const auto tiled = encode_tiled_function();
    static const auto im2col =
        driver_function<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
    const CUresult failed =
        what == copy::load_pixels
            ? im2col(&map, type, rank(), address, sizes.data(), strides, lower.data(), upper.data(),
                     box[0], box[1], steps.data(), layout, swizzle, none, zero)
            : tiled(&map, type, rank(), address, sizes.data(), strides, box.data(), steps.data(),
                    layout, swizzle, none, zero);
    if (failed != CUDA_SUCCESS) {
      std::printf("the map was refused: %d\n", static_cast<int>(failed));
      std::exit(1);
    }
    return map;
  }

  // Calls use(offset in the tensor, or -1 outside; offset in the box) for the elements of the box.
  template <class Use>
  void each_element(Use use) const {
    if (what == copy::load_pixels) return each_element_of_pixels(use);
    std::vector<int> at = {0};
    at.insert(at.end(), start.begin(), start.end());
    std::uint64_t to = 0;
    plain().each_element(at, [&](std::int64_t from, std::uint64_t) {
      use(from, to);
      to += element;
    });
  }

  // The dimensions are W, H, slices and the batch.
  template <class Use>
  void each_element_of_pixels(Use use) const {
    const tensor_shape shape = plain();
    std::vector<int> at = start;
    for (std::uint64_t to = 0; to < moved_bytes();) {
      std::int64_t from = 0;
      bool is_inside = true;
      for (unsigned d = 0; d < rank(); ++d) {
        const int place = at[d] + (d < 2 ? offsets.at[d] : 0);
        is_inside &= place >= 0 && place < static_cast<int>(sizes[d]);
        from += place * static_cast<std::int64_t>(shape.stride(d + 1));
      }
      for (unsigned n = 0; n < slice_bytes(); n += element, to += element)
        use(is_inside ? from + n : -1, to);
      unsigned d = 0;
      for (; d < 2; ++d) {
        at[d] += static_cast<int>(steps[d]);
        if (at[d] < static_cast<int>(sizes[d]) + upper[d]) break;
        at[d] = lower[d];
      }
      if (d == 2) at[3] += static_cast<int>(steps[3]);
    }
  }
};

box_start start_of(const copy_case& c) {
  box_start start{};
  std::copy(c.start.begin(), c.start.end(), start.at);
  return start;
}

// The windows begin at a multiple of 1024 bytes, so the swizzle of an element depends on its offset
// in the window.
void check_load(const copy_case& c) {
  const bytes tensor = distinct_bytes(c.plain().total_bytes());
  const device_array<unsigned char> global(tensor), out(window_bytes);
  const device_array<int> ended(1);
  const auto kernel = c.what == copy::load_pixels ? load<4, true>
                      : c.rank() == 3             ? load<3, false>
                      : c.rank() == 4             ? load<4, false>
                                                  : load<5, false>;
  kernel<<<1, threads, window_bytes>>>(c.map_of(global.get()), start_of(c), c.offsets,
                                       c.moved_bytes(), out.get(), ended.get());
  finish();
  bytes expected(window_bytes, untouched);
  c.each_element([&](std::int64_t from, std::uint64_t to) {
    const std::uint64_t at = c.plain().swizzled(to);
    if (from >= 0)
      std::memcpy(&expected[at], &tensor[from], c.element);
    else
      std::memset(&expected[at], 0, c.element);
  });
  EXPECT_TRUE(differs(c.name, out.values(), expected) == 0);
  const int has_counted_the_bytes = ended.values()[0];
  EXPECT_TRUE(has_counted_the_bytes);
}

// Stores and sums of 4-byte integers.
void check_store(const copy_case& c) {
  const bytes window = distinct_bytes(window_bytes);
  bytes expected(c.plain().total_bytes(), 0x11);
  const device_array<unsigned char> global(expected), in(window);
  const auto kernel = c.what == copy::sum ? store<true> : store<false>;
  kernel<<<1, threads, window_bytes>>>(c.map_of(global.get()), start_of(c), in.get());
  finish();
  c.each_element([&](std::int64_t to, std::uint64_t from) {
    if (to < 0) return;
    std::uint32_t value, before;
    std::memcpy(&value, &window[c.plain().swizzled(from)], sizeof value);
    std::memcpy(&before, &expected[to], sizeof before);
    if (c.what == copy::sum) value += before;
    std::memcpy(&expected[to], &value, sizeof value);
  });
  EXPECT_TRUE(differs(c.name, global.values(), expected) == 0);
}

// The behaviour of a GPU was measured with loads and stores of 2-byte elements; the expected sums
// follow from the stores.
std::vector<copy_case> copy_cases() {
  constexpr auto load = copy::load, pixels = copy::load_pixels;
  constexpr auto s16 = CU_TENSOR_MAP_INTERLEAVE_16B, s32 = CU_TENSOR_MAP_INTERLEAVE_32B;
  constexpr auto w32 = CU_TENSOR_MAP_SWIZZLE_32B;
  // 20 pixels, 10 slices and 4 images.
  const std::vector<std::uint64_t> rows = {20, 10, 4};
  const std::vector<std::uint32_t> ones = {1, 1, 1, 1, 1};
  const std::vector<std::uint64_t> images = {5, 6, 10, 4};
  std::vector<copy_case> cases = {
      {"one slice", load, rows, {8, 8, 2}, {0, 0, 0}},
      {"a box with 9 channels has one slice", load, rows, {8, 9, 2}, {0, 0, 0}},
      {"a box with 16 channels has one slice", load, rows, {8, 16, 2}, {0, 0, 0}},
      {"a box with 24 channels has one slice", load, rows, {16, 24, 2}, {0, 0, 0}},
      {"coordinate 0 counts pixels", load, rows, {8, 16, 2}, {1, 0, 0}},
      {"the second-to-last coordinate counts slices", load, rows, {8, 16, 2}, {0, 1, 0}},
      {"the last slice", load, rows, {8, 16, 2}, {0, 9, 0}},
      {"the last coordinate counts images", load, rows, {8, 16, 2}, {0, 0, 1}},
      {"pixels past the end", load, rows, {8, 16, 2}, {15, 0, 0}},
      {"fewer pixels than a box has", load, {5, 10, 4}, {8, 16, 2}, {0, 0, 0}},
      {"images past the end", load, rows, {8, 24, 2}, {0, 4, 3}},
      {"before the first pixel, slice and image", load, rows, {8, 24, 2}, {-1, -1, -1}},
      {"a step of pixels", load, rows, {8, 16, 2}, {0, 0, 0}, {2, 1, 1}},
      {"a step of channels, which has no effect", load, rows, {8, 32, 2}, {0, 0, 0}, {1, 2, 1}},
      {"a step of images", load, rows, {8, 16, 4}, {0, 0, 0}, {1, 1, 2}},
      {"four dimensions", load, {20, 3, 5, 4}, {8, 2, 16, 2}, {0, 0, 0, 0}},
      {"four dimensions, slice 1", load, {20, 3, 5, 4}, {8, 2, 16, 2}, {0, 0, 1, 0}},
      {"five dimensions", load, {16, 3, 2, 5, 2}, {8, 2, 2, 16, 2}, {0, 0, 0, 0, 0}},
      {"bytes", load, rows, {16, 32, 2}, {0, 0, 0}, ones, s16, {}, {}, 1},
      {"words", load, rows, {4, 8, 2}, {0, 0, 0}, ones, s16, {}, CU_TENSOR_MAP_DATA_TYPE_UINT32, 4},
      {"slices of 32 bytes", load, rows, {16, 16, 2}, {0, 0, 0}, ones, s32, w32},
      {"slices of 32 bytes, a box of 8 pixels", load, rows, {8, 32, 2}, {0, 0, 0}, ones, s32, w32},
      {"slices of 32 bytes, pixel 1 of slice 1", load, rows, {8, 32, 2}, {1, 1, 0}, ones, s32, w32},
      {"slices of 32 bytes, four dimensions",
       load,
       {20, 3, 5, 4},
       {8, 2, 32, 2},
       {0, 0, 0, 0},
       ones,
       s32,
       w32},
      {"a column of pixels", pixels, images, {8, 14}, {0, 0, 0, 0}},
      {"a column of pixels of slice 1", pixels, images, {8, 14}, {0, 0, 1, 0}},
      {"a column of 32 channels has one slice", pixels, images, {32, 14}, {0, 0, 0, 0}},
      {"a column of pixels with steps", pixels, images, {8, 14}, {0, 0, 0, 0}, {2, 3, 1, 1}},
      {"a column of slices of 32 bytes", pixels, images, {8, 14}, {0, 0, 0, 0}, ones, s32, w32},
  };
  copy_case moved{
      "a column of pixels in a bounding box, with offsets", pixels, images, {8, 14}, {0, 0, 0, 0}};
  moved.upper = {-1, -1};
  moved.offsets = {{1, 1}};
  cases.push_back(moved);
  const std::pair<const char*, CUtensorMapSwizzle> swizzles[] = {
      {"a swizzle of 32 bytes", CU_TENSOR_MAP_SWIZZLE_32B},
      {"a swizzle of 64 bytes", CU_TENSOR_MAP_SWIZZLE_64B},
      {"a swizzle of 128 bytes", CU_TENSOR_MAP_SWIZZLE_128B}};
  for (const auto& [name, swizzle] : swizzles)
    cases.push_back({name, load, rows, {16, 16, 2}, {0, 0, 0}, ones, s16, swizzle});
  constexpr auto u32 = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  const struct {
    const char *one, *clipped, *wide;
    copy what;
  } writes[] = {{"a store", "a store past the end", "a store of slices of 32 bytes", copy::store},
                {"a sum", "a sum past the end", "a sum of slices of 32 bytes", copy::sum}};
  for (const auto& w : writes) {
    cases.push_back({w.one, w.what, rows, {8, 16, 2}, {0, 0, 0}, ones, s16, {}, u32, 4});
    cases.push_back({w.clipped, w.what, rows, {8, 24, 2}, {15, 4, 3}, ones, s16, {}, u32, 4});
    cases.push_back({w.wide, w.what, rows, {8, 32, 2}, {0, 0, 0}, ones, s32, w32, u32, 4});
  }
  return cases;
}

int main() {
  static const copy_case* chosen = nullptr;
  for (const copy_case& c : copy_cases()) {
    chosen = &c;
    in_child(c.name, [] {
      const bool loads = chosen->what == copy::load || chosen->what == copy::load_pixels;
      loads ? check_load(*chosen) : check_store(*chosen);
    });
  }
  return outcome("copies of interleaved tensors");
}
