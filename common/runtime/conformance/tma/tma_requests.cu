// Requests for tensor maps that break a rule, and the ways to the functions that make maps.
#include <functional>

#include "expect.hpp"
#include "tma/tensor_shape.hpp"

// The arguments of a right request, of a plane of floats.
struct request {
  CUtensorMap map;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  unsigned rank = 2;
  void* address = nullptr;
  std::uint64_t sizes[5] = {100, 50, 4, 3, 2};
  std::uint64_t strides[4] = {400, 20000, 80000, 240000};
  std::uint32_t box[5] = {32, 8, 2, 2, 2}, steps[5] = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult encode() {
    static const auto function = encode_tiled_function();
    return function(&map, type, rank, address, sizes, strides, box, steps, interleave, swizzle,
                    promotion, fill);
  }
};

// Changes a request to one for a tensor with an interleaved layout and 2-byte elements.
void make_interleaved(request& r, CUtensorMapInterleave layout) {
  r.type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
  r.rank = 3;
  r.interleave = layout;
  r.strides[0] = 416;
  r.box[0] = 8;
}
void make_interleaved_16(request& r) { make_interleaved(r, CU_TENSOR_MAP_INTERLEAVE_16B); }
void make_interleaved_32(request& r) { make_interleaved(r, CU_TENSOR_MAP_INTERLEAVE_32B); }
void set_box(request& r, unsigned pixels, unsigned channels, unsigned images) {
  r.box[0] = pixels, r.box[1] = channels, r.box[2] = images;
}

template <class Enum>
Enum number(int value) {
  return static_cast<Enum>(value);
}

struct bad_request {
  const char* name;
  std::function<void(request&)> change;
};

const bad_request bad_requests[] = {
    {"an unknown type", [](request& r) { r.type = number<CUtensorMapDataType>(99); }},
    {"a rank of 0", [](request& r) { r.rank = 0; }},
    {"a rank of 6", [](request& r) { r.rank = 6; }},
    {"an address that is misaligned",
     [](request& r) { r.address = static_cast<char*>(r.address) + 8; }},
    {"a size of 0", [](request& r) { r.sizes[1] = 0; }},
    {"a size above 2^32", [](request& r) { r.sizes[0] = (1ull << 32) + 1; }},
    {"a stride that is misaligned", [](request& r) { r.strides[0] = 408; }},
    {"a stride of 2^40", [](request& r) { r.strides[0] = 1ull << 40; }},
    {"a box of 0", [](request& r) { r.box[1] = 0; }},
    {"a box of more than 228 KB", [](request& r) { r.box[0] = 256, r.box[1] = 256; }},
    {"a box of 257", [](request& r) { r.box[1] = 257; }},
    {"a row of 12 bytes", [](request& r) { r.box[0] = 3; }},
    {"a step of 0", [](request& r) { r.steps[1] = 0; }},
    {"a step of 9", [](request& r) { r.steps[1] = 9; }},
    {"a row wider than a swizzle of 32 bytes",
     [](request& r) { r.box[0] = 12, r.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; }},
    {"a row wider than a swizzle of 64 bytes",
     [](request& r) { r.box[0] = 20, r.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }},
    {"a row wider than a swizzle of 128 bytes",
     [](request& r) { r.box[0] = 36, r.swizzle = CU_TENSOR_MAP_SWIZZLE_128B; }},
    {"an unknown swizzle", [](request& r) { r.swizzle = number<CUtensorMapSwizzle>(99); }},
    {"an unknown layout", [](request& r) { r.interleave = number<CUtensorMapInterleave>(99); }},
    {"a layout for a rank of 3", [](request& r) { r.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; }},
    {"a row of 8 bytes in a layout of 16 bytes",
     [](request& r) { r.rank = 3, r.interleave = CU_TENSOR_MAP_INTERLEAVE_16B, r.box[0] = 2; }},
    {"a step of 9 in a layout of 16 bytes",
     [](request& r) { make_interleaved_16(r), r.steps[0] = 9; }},
    {"a box of more than 228 KB in a layout of 16 bytes",
     [](request& r) { make_interleaved_16(r), set_box(r, 256, 8, 58); }},
    {"an address that is misaligned for a layout of 32 bytes",
     [](request& r) {
       make_interleaved_32(r);
       r.address = static_cast<char*>(r.address) + 16;
     }},
    {"a stride that is misaligned for a layout of 32 bytes",
     [](request& r) { make_interleaved_32(r), r.strides[0] = 400; }},
    {"an unknown promotion", [](request& r) { r.promotion = number<CUtensorMapL2promotion>(99); }},
    {"an unknown fill", [](request& r) { r.fill = number<CUtensorMapFloatOOBfill>(99); }},
    {"NaN for integers",
     [](request& r) {
       r.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
       r.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
     }},
};

const bad_request good_requests[] = {
    {"no change", [](request&) {}},
    {"a size of 2^32", [](request& r) { r.sizes[0] = 1ull << 32; }},
    {"the longest stride", [](request& r) { r.strides[0] = (1ull << 40) - 16; }},
    {"the largest box", [](request& r) { r.box[0] = 256, r.box[1] = 228; }},
    {"a null address", [](request& r) { r.address = nullptr; }},
    {"the largest step", [](request& r) { r.steps[1] = 8; }},
    {"a full swizzle of 128 bytes", [](request& r) { r.swizzle = CU_TENSOR_MAP_SWIZZLE_128B; }},
    {"five dimensions", [](request& r) { r.rank = 5; }},
    {"one dimension", [](request& r) { r.rank = 1; }},
    {"NaN", [](request& r) { r.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; }},
    {"a layout of 16 bytes", make_interleaved_16},
    {"a row wider than a swizzle, in a layout of 16 bytes",
     [](request& r) {
       make_interleaved_16(r), r.box[0] = 24, r.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
     }},
    {"a step in a layout of 16 bytes", [](request& r) { make_interleaved_16(r), r.steps[0] = 2; }},
    {"the largest box in a layout of 16 bytes",
     [](request& r) { make_interleaved_16(r), set_box(r, 256, 8, 57); }},
    {"slices of more than 228 KB in a box with one channel",
     [](request& r) { make_interleaved_16(r), set_box(r, 256, 1, 256); }},
    {"descending strides in a layout of 16 bytes",
     [](request& r) { make_interleaved_16(r), std::swap(r.strides[0], r.strides[1]); }},
    {"strides of 0 in a layout of 16 bytes",
     [](request& r) { make_interleaved_16(r), r.strides[0] = r.strides[1] = 0; }},
    {"a layout of 32 bytes with a swizzle of 32 bytes",
     [](request& r) { make_interleaved_32(r), r.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; }},
    {"a layout of 32 bytes without a swizzle", make_interleaved_32},
    {"a layout of 32 bytes with a swizzle of 64 bytes",
     [](request& r) { make_interleaved_32(r), r.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }},
    {"a promotion", [](request& r) { r.promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B; }},
};

void expect_all(const bad_request* first, const bad_request* end, void* address, CUresult wanted) {
  for (const bad_request* b = first; b != end; ++b) {
    request r;
    r.address = address;
    b->change(r);
    const CUresult found = r.encode();
    ++expectations;
    if (found == wanted) continue;
    ++broken_expectations;
    std::printf("%s: result %d, expected %d\n", b->name, static_cast<int>(found),
                static_cast<int>(wanted));
  }
}

int main() {
  void* memory = nullptr;
  check(cudaMalloc(&memory, 1 << 20));
  expect_all(std::begin(bad_requests), std::end(bad_requests), memory, CUDA_ERROR_INVALID_VALUE);
  expect_all(std::begin(good_requests), std::end(good_requests), memory, CUDA_SUCCESS);
  EXPECT(cudaGetLastError(), cudaSuccess);

  void* function = nullptr;
  cudaDriverEntryPointQueryResult outcome{};
  EXPECT(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 11080,
                                          cudaEnableDefault, &outcome),
         cudaSuccess);
  EXPECT_TRUE(function == nullptr && outcome == cudaDriverEntryPointVersionNotSufficent);
  EXPECT(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeSideways", &function, 12000,
                                          cudaEnableDefault, &outcome),
         cudaSuccess);
  EXPECT_TRUE(function == nullptr && outcome == cudaDriverEntryPointSymbolNotFound);
  EXPECT(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, 99, &outcome),
         cudaErrorInvalidValue);
  EXPECT(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 999000,
                                          cudaEnableDefault, &outcome),
         cudaErrorInvalidValue);
  EXPECT(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                          cudaEnablePerThreadDefaultStream, nullptr),
         cudaSuccess);
  EXPECT_TRUE(function != nullptr);
  cudaGetLastError();
  check(cudaFree(memory));
  return ::outcome("requests for tensor maps");
}
