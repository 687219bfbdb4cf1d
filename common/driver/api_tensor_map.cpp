// Tensor maps. The runtime has these functions, too, for programs that do not load this library.
#include "common/driver/driver.hpp"
#include "common/runtime/api/tensor_maps.hpp"

using namespace stepwise;
using namespace stepwise::driver;

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return answer([&] {
    return runtime::encode_tiled_map(map, type, rank, address, sizes, strides, box, element_strides,
                                     interleave, swizzle, promotion, fill);
  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t* element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return answer([&] {
    return runtime::encode_im2col_map(map, type, rank, address, sizes, strides, lower, upper,
                                      channels, pixels, element_strides, interleave, swizzle,
                                      promotion, fill);
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return answer([&] { return runtime::replace_map_address(map, address); });
}
