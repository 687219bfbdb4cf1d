// CUDA arrays: wrappers of the runtime's functions that convert the driver's formats.
#include "common/driver/array_formats.hpp"

using namespace stepwise;
using namespace stepwise::driver;

namespace {

// Creates an array owned by the current context.
CUresult make_array(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR& d,
                    std::source_location at = std::source_location::current()) {
  return in_context(
      [&](context& owner) -> CUresult {
        if ((d.Flags & CUDA_ARRAY3D_DEPTH_TEXTURE) != 0)
          return refused("arrays for depth textures");
        cudaChannelFormatDesc format;
        const CUresult known = channels_of(d.Format, d.NumChannels, format);
        if (known != CUDA_SUCCESS) return known;
        const cudaError_t outcome = cudaMalloc3DArray(
            reinterpret_cast<cudaArray_t*>(array), &format, {d.Width, d.Height, d.Depth}, d.Flags);
        if (outcome == cudaSuccess) contexts::get().own(owner, &context::arrays, *array);
        return result_of(outcome);
      },
      at);
}

CUresult describe(CUDA_ARRAY3D_DESCRIPTOR& d, CUarray array) {
  cudaChannelFormatDesc format;
  cudaExtent extent;
  unsigned flags = 0;
  const cudaError_t known = cudaArrayGetInfo(&format, &extent, &flags, array_of(array));
  if (known != cudaSuccess) return result_of(known);
  d = {extent.width, extent.height, extent.depth, format_of(format), channel_count(format), flags};
  return CUDA_SUCCESS;
}

// Copies `count` bytes to byte `x` of a one-dimensional array, or of the first row of another.
CUresult copy_into(CUarray to, std::size_t x, const void* from, std::size_t count,
                   cudaMemcpyKind kind, std::source_location at = std::source_location::current()) {
  return in_context(
      [&](context&) {
        return cudaMemcpy2DToArray(array_of(to), x, 0, from, count, count, 1, kind);
      },
      at);
}
CUresult copy_from(void* to, CUarray from, std::size_t x, std::size_t count, cudaMemcpyKind kind,
                   std::source_location at = std::source_location::current()) {
  return in_context(
      [&](context&) {
        return cudaMemcpy2DFromArray(to, count, array_of(from), x, 0, count, 1, kind);
      },
      at);
}

}  // namespace

CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* d) {
  return in_context([&](context&) {
    if (!array || !d) return CUDA_ERROR_INVALID_VALUE;
    return make_array(array, {d->Width, d->Height, 0, d->Format, d->NumChannels, 0});
  });
}

CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* d) {
  return in_context(
      [&](context&) { return array && d ? make_array(array, *d) : CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* d, CUarray array) {
  return in_context([&](context&) {
    if (!d) return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR whole;
    const CUresult known = describe(whole, array);
    if (known == CUDA_SUCCESS) *d = {whole.Width, whole.Height, whole.Format, whole.NumChannels};
    return known;
  });
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* d, CUarray array) {
  return in_context([&](context&) { return d ? describe(*d, array) : CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuArrayDestroy(CUarray array) {
  return in_context([&](context&) {
    const cudaError_t outcome =
        array ? cudaFreeArray(array_of(array)) : cudaErrorInvalidResourceHandle;
    if (outcome == cudaSuccess) contexts::get().disown(&context::arrays, array);
    return outcome;
  });
}

CUresult cuMemcpyHtoA(CUarray to, size_t x, const void* from, size_t count) {
  return copy_into(to, x, from, count, cudaMemcpyHostToDevice);
}
STEPWISE_ALSO("cuMemcpyHtoA_v2_ptds", cuMemcpyHtoA_v2);

CUresult cuMemcpyAtoH(void* to, CUarray from, size_t x, size_t count) {
  return copy_from(to, from, x, count, cudaMemcpyDeviceToHost);
}
STEPWISE_ALSO("cuMemcpyAtoH_v2_ptds", cuMemcpyAtoH_v2);

CUresult cuMemcpyDtoA(CUarray to, size_t x, CUdeviceptr from, size_t count) {
  return copy_into(to, x, pointer_of(from), count, cudaMemcpyDeviceToDevice);
}
STEPWISE_ALSO("cuMemcpyDtoA_v2_ptds", cuMemcpyDtoA_v2);

CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t x, size_t count) {
  return copy_from(pointer_of(to), from, x, count, cudaMemcpyDeviceToDevice);
}
STEPWISE_ALSO("cuMemcpyAtoD_v2_ptds", cuMemcpyAtoD_v2);

CUresult cuMemcpyAtoA(CUarray to, size_t to_x, CUarray from, size_t from_x, size_t count) {
  return in_context([&](context&) {
    return cudaMemcpy2DArrayToArray(array_of(to), to_x, 0, array_of(from), from_x, 0, count, 1,
                                    cudaMemcpyDeviceToDevice);
  });
}
STEPWISE_ALSO("cuMemcpyAtoA_v2_ptds", cuMemcpyAtoA_v2);

CUresult cuMemcpyHtoAAsync(CUarray to, size_t x, const void* from, size_t count, CUstream stream) {
  return in_context([&](context&) {
    return cudaMemcpy2DToArrayAsync(array_of(to), x, 0, from, count, count, 1,
                                    cudaMemcpyHostToDevice, stream);
  });
}
STEPWISE_NAMED("cuMemcpyHtoAAsync_v2_ptsz", into_array_per_thread, CUarray, size_t, const void*,
               size_t, CUstream);
CUresult into_array_per_thread(CUarray to, size_t x, const void* from, size_t count,
                               CUstream stream) {
  return cuMemcpyHtoAAsync(to, x, from, count, per_thread(stream));
}

CUresult cuMemcpyAtoHAsync(void* to, CUarray from, size_t x, size_t count, CUstream stream) {
  return in_context([&](context&) {
    return cudaMemcpy2DFromArrayAsync(to, count, array_of(from), x, 0, count, 1,
                                      cudaMemcpyDeviceToHost, stream);
  });
}
STEPWISE_NAMED("cuMemcpyAtoHAsync_v2_ptsz", from_array_per_thread, void*, CUarray, size_t, size_t,
               CUstream);
CUresult from_array_per_thread(void* to, CUarray from, size_t x, size_t count, CUstream stream) {
  return cuMemcpyAtoHAsync(to, from, x, count, per_thread(stream));
}
