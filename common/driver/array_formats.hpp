// Conversion between the driver's array formats and the runtime's channel descriptions.
#pragma once

#include "common/driver/driver.hpp"

namespace stepwise::driver {

// Both APIs use the same handles for arrays.
inline cudaArray_t array_of(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }
inline CUarray array_of(cudaArray_const_t array) {
  return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array));
}

// Prints on stderr that a feature is not supported, and returns the error.
inline CUresult refused(const char* what) {
  runtime::announce(std::string(what) + " are not supported");
  return CUDA_ERROR_NOT_SUPPORTED;
}

// CUDA_ERROR_INVALID_VALUE for an unknown format or an invalid number of channels.
inline CUresult channels_of(CUarray_format format, unsigned channels, cudaChannelFormatDesc& to) {
  int bits = 0;
  cudaChannelFormatKind kind = cudaChannelFormatKindUnsigned;
  const int number = runtime::number_of(format);
  switch (number) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      bits = 8;
      break;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      bits = 16;
      break;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      bits = 32;
      break;
    default:
      if (number != CU_AD_FORMAT_UNORM_INT_101010_2 &&
          (number < CU_AD_FORMAT_BC1_UNORM || number > CU_AD_FORMAT_SNORM_INT16X4))
        return CUDA_ERROR_INVALID_VALUE;
      return refused("arrays of compressed, planar and normalised formats");
  }
  if (channels != 1 && channels != 2 && channels != 4) return CUDA_ERROR_INVALID_VALUE;
  if (number == CU_AD_FORMAT_HALF || number == CU_AD_FORMAT_FLOAT)
    kind = cudaChannelFormatKindFloat;
  else if ((number & CU_AD_FORMAT_SIGNED_INT8) != 0)
    kind = cudaChannelFormatKindSigned;
  to = {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0, kind};
  return CUDA_SUCCESS;
}

// The driver's format for channels that the runtime has accepted.
inline CUarray_format format_of(const cudaChannelFormatDesc& f) {
  const int step = f.x == 8 ? 0 : f.x == 16 ? 1 : 2;
  if (f.f == cudaChannelFormatKindFloat) return f.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
  const int first = f.f == cudaChannelFormatKindSigned ? int{CU_AD_FORMAT_SIGNED_INT8}
                                                       : int{CU_AD_FORMAT_UNSIGNED_INT8};
  return static_cast<CUarray_format>(first + step);
}

inline unsigned channel_count(const cudaChannelFormatDesc& f) {
  return f.w != 0 ? 4 : f.y != 0 ? 2 : 1;
}

inline std::size_t texel_bytes(const cudaChannelFormatDesc& f) {
  return static_cast<std::size_t>(f.x + f.y + f.z + f.w) / 8;
}

}  // namespace stepwise::driver
