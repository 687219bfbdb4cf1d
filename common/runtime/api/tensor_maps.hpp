// Functions of the driver API that a program with only the runtime can get, and how the runtime
// finds the others.
//
// idea    cudaGetDriverEntryPointByVersion() is the documented way to cuTensorMapEncodeTiled for a
//         program that does not link to libcuda.so.1. So these functions belong to the runtime, and
//         our libcuda.so.1 calls them. If that library is loaded, it provides its
//         cuGetProcAddress() for all other names.
// tests   conformance/tma/
#pragma once

#include <cuda.h>

namespace stepwise::runtime {

// cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and cuTensorMapReplaceAddress. A broken rule is
// announced on stderr.
CUresult encode_tiled_map(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                          void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                          const cuuint32_t* box, const cuuint32_t* element_strides,
                          CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                          CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);
CUresult encode_im2col_map(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                           void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                           const int* lower, const int* upper, cuuint32_t channels,
                           cuuint32_t pixels, const cuuint32_t* element_strides,
                           CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                           CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);
CUresult replace_map_address(CUtensorMap* map, void* address);

// cuGetProcAddress() of our libcuda.so.1, which calls this when it is loaded.
using driver_lookup = CUresult (*)(const char* name, void** function, int version, cuuint64_t flags,
                                   CUdriverProcAddressQueryResult* outcome);
void provide_driver_functions(driver_lookup lookup);

}  // namespace stepwise::runtime
