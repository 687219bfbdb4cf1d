// Copies and fills.
#include <optional>

#include "common/driver/graphs/graph_parameters.hpp"
#include "common/driver/memory_types.hpp"
#include "common/runtime/api/copy.hpp"

using namespace stepwise;
using namespace stepwise::driver;
using runtime::copy_request;
using runtime::fill_request;

namespace {

CUresult copy_linear(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                     std::source_location at = std::source_location::current()) {
  return in_context([&](context&) { return cudaMemcpy(to, from, bytes, kind); }, at);
}

CUresult copy_in_stream(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                        CUstream stream,
                        std::source_location at = std::source_location::current()) {
  return in_context([&](context&) { return cudaMemcpyAsync(to, from, bytes, kind, stream); }, at);
}

// One side of a copy of rows: its base pointer, and the offsets and pitches relative to it.
struct corner {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  std::size_t x_bytes, y, z;
  std::size_t pitch, height;
};

template <class Copy>
corner source_of(const Copy& c) {
  corner side{c.srcMemoryType, c.srcHost, c.srcDevice, c.srcXInBytes, c.srcY, 0, c.srcPitch, 0};
  if constexpr (requires { c.srcZ; }) {
    side.z = c.srcZ;
    side.height = c.srcHeight;
  }
  return side;
}
template <class Copy>
corner destination_of(const Copy& c) {
  corner side{c.dstMemoryType, c.dstHost, c.dstDevice, c.dstXInBytes, c.dstY, 0, c.dstPitch, 0};
  if constexpr (requires { c.dstZ; }) {
    side.z = c.dstZ;
    side.height = c.dstHeight;
  }
  return side;
}

const char* first_of(const corner& c) {
  const auto* const base = static_cast<const char*>(
      place_of(c.type) == memory_place::host ? c.host
                                             : static_cast<const void*>(pointer_of(c.device)));
  return base ? base + (c.z * c.height + c.y) * c.pitch + c.x_bytes : nullptr;
}

CUDA_MEMCPY3D in_layers(const CUDA_MEMCPY3D& c) { return c; }
CUDA_MEMCPY3D in_layers(const CUDA_MEMCPY2D& c) {
  CUDA_MEMCPY3D whole{};
  whole.srcXInBytes = c.srcXInBytes;
  whole.srcY = c.srcY;
  whole.srcMemoryType = c.srcMemoryType;
  whole.srcHost = c.srcHost;
  whole.srcDevice = c.srcDevice;
  whole.srcArray = c.srcArray;
  whole.srcPitch = c.srcPitch;
  whole.dstXInBytes = c.dstXInBytes;
  whole.dstY = c.dstY;
  whole.dstMemoryType = c.dstMemoryType;
  whole.dstHost = c.dstHost;
  whole.dstDevice = c.dstDevice;
  whole.dstArray = c.dstArray;
  whole.dstPitch = c.dstPitch;
  whole.WidthInBytes = c.WidthInBytes;
  whole.Height = c.Height;
  whole.Depth = 1;
  return whole;
}

// A copy from an array, to an array, or both.
CUresult copy_array(const CUDA_MEMCPY3D& c, bool asynchronous, CUstream stream) {
  cudaMemcpy3DParms p;
  const CUresult sound = copy_parameters(c, p);
  if (sound != CUDA_SUCCESS) return sound;
  return result_of(asynchronous ? cudaMemcpy3DAsync(&p, stream) : cudaMemcpy3D(&p));
}

// Copies rows in `layers` layers. A pitch of 0 means that there are no gaps between rows.
template <class Copy>
CUresult copy_rows(const Copy* c, std::size_t layers, bool asynchronous, CUstream stream,
                   std::source_location at = std::source_location::current()) {
  return in_context(
      [&](context&) -> CUresult {
        if (!c) return CUDA_ERROR_INVALID_VALUE;
        corner to = destination_of(*c), from = source_of(*c);
        if (is_array(to.type) || is_array(from.type))
          return copy_array(in_layers(*c), asynchronous, stream);
        const memory_place into = place_of(to.type), out_of = place_of(from.type);
        if (into == memory_place::unknown || out_of == memory_place::unknown)
          return CUDA_ERROR_INVALID_VALUE;
        for (corner* side : {&to, &from}) {
          if (side->pitch == 0) side->pitch = c->WidthInBytes + side->x_bytes;
          if (side->height == 0) side->height = c->Height + side->y;
        }
        copy_request request{const_cast<char*>(first_of(to)),
                             to.pitch,
                             first_of(from),
                             from.pitch,
                             c->WidthInBytes,
                             c->Height,
                             0};
        request.kind = direction_between(into, out_of);
        request.layers = layers;
        request.to_layer = to.pitch * to.height;
        request.from_layer = from.pitch * from.height;
        if (asynchronous) request = in_stream(request, stream);
        return result_of(copy_call(request, at));
      },
      at);
}

CUresult fill(CUdeviceptr to, std::size_t pitch, unsigned value, unsigned element_bytes,
              std::size_t width, std::size_t rows, std::optional<CUstream> stream = {},
              std::source_location at = std::source_location::current()) {
  return in_context(
      [&](context&) {
        if (to % element_bytes != 0 || (rows > 1 && pitch % element_bytes != 0)) {
          return cudaErrorInvalidValue;
        }
        fill_request request{pointer_of(to), pitch, static_cast<int>(value), width * element_bytes,
                             rows};
        request.element_bytes = element_bytes;
        return stream ? fill_call(request, *stream, at) : fill_and_wait(request, at);
      },
      at);
}

}  // namespace

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return copy_linear(pointer_of(to), from, bytes, cudaMemcpyHostToDevice);
}
STEPWISE_ALSO("cuMemcpyHtoD_v2_ptds", cuMemcpyHtoD_v2);

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return copy_linear(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost);
}
STEPWISE_ALSO("cuMemcpyDtoH_v2_ptds", cuMemcpyDtoH_v2);

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice);
}
STEPWISE_ALSO("cuMemcpyDtoD_v2_ptds", cuMemcpyDtoD_v2);

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault);
}
STEPWISE_ALSO("cuMemcpy_ptds", cuMemcpy);

// The contexts of one device share its memory.
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice);
}
STEPWISE_ALSO("cuMemcpyPeer_ptds", cuMemcpyPeer);

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return copy_in_stream(pointer_of(to), from, bytes, cudaMemcpyHostToDevice, stream);
}
STEPWISE_ALSO("cuMemcpyHtoDAsync_v2_ptsz", cuMemcpyHtoDAsync_v2);

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy_in_stream(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost, stream);
}
STEPWISE_ALSO("cuMemcpyDtoHAsync_v2_ptsz", cuMemcpyDtoHAsync_v2);

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy_in_stream(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice, stream);
}
STEPWISE_ALSO("cuMemcpyDtoDAsync_v2_ptsz", cuMemcpyDtoDAsync_v2);

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy_in_stream(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault, stream);
}
STEPWISE_ALSO("cuMemcpyAsync_ptsz", cuMemcpyAsync);

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes,
                           CUstream stream) {
  return copy_in_stream(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice, stream);
}
STEPWISE_ALSO("cuMemcpyPeerAsync_ptsz", cuMemcpyPeerAsync);

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* c) { return copy_rows(c, 1, false, nullptr); }
STEPWISE_ALSO("cuMemcpy2D_v2_ptds", cuMemcpy2D_v2);

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* c) { return copy_rows(c, 1, false, nullptr); }
STEPWISE_ALSO("cuMemcpy2DUnaligned_v2_ptds", cuMemcpy2DUnaligned_v2);

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* c, CUstream stream) {
  return copy_rows(c, 1, true, stream);
}
STEPWISE_ALSO("cuMemcpy2DAsync_v2_ptsz", cuMemcpy2DAsync_v2);

CUresult cuMemcpy3D(const CUDA_MEMCPY3D* c) {
  return copy_rows(c, c ? c->Depth : 0, false, nullptr);
}
STEPWISE_ALSO("cuMemcpy3D_v2_ptds", cuMemcpy3D_v2);

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* c, CUstream stream) {
  return copy_rows(c, c ? c->Depth : 0, true, stream);
}
STEPWISE_ALSO("cuMemcpy3DAsync_v2_ptsz", cuMemcpy3DAsync_v2);

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  return fill(to, 0, value, 1, count, 1);
}
STEPWISE_ALSO("cuMemsetD8_v2_ptds", cuMemsetD8_v2);

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
  return fill(to, 0, value, 2, count, 1);
}
STEPWISE_ALSO("cuMemsetD16_v2_ptds", cuMemsetD16_v2);

CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
  return fill(to, 0, value, 4, count, 1);
}
STEPWISE_ALSO("cuMemsetD32_v2_ptds", cuMemsetD32_v2);

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fill(to, 0, value, 1, count, 1, stream);
}
STEPWISE_ALSO("cuMemsetD8Async_ptsz", cuMemsetD8Async);

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fill(to, 0, value, 2, count, 1, stream);
}
STEPWISE_ALSO("cuMemsetD16Async_ptsz", cuMemsetD16Async);

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return fill(to, 0, value, 4, count, 1, stream);
}
STEPWISE_ALSO("cuMemsetD32Async_ptsz", cuMemsetD32Async);

CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                      size_t rows) {
  return fill(to, pitch, value, 1, width, rows);
}
STEPWISE_ALSO("cuMemsetD2D8_v2_ptds", cuMemsetD2D8_v2);

CUresult cuMemsetD2D16(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                       size_t rows) {
  return fill(to, pitch, value, 2, width, rows);
}
STEPWISE_ALSO("cuMemsetD2D16_v2_ptds", cuMemsetD2D16_v2);

CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t rows) {
  return fill(to, pitch, value, 4, width, rows);
}
STEPWISE_ALSO("cuMemsetD2D32_v2_ptds", cuMemsetD2D32_v2);

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                           size_t rows, CUstream stream) {
  return fill(to, pitch, value, 1, width, rows, stream);
}
STEPWISE_ALSO("cuMemsetD2D8Async_ptsz", cuMemsetD2D8Async);

CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                            size_t rows, CUstream stream) {
  return fill(to, pitch, value, 2, width, rows, stream);
}
STEPWISE_ALSO("cuMemsetD2D16Async_ptsz", cuMemsetD2D16Async);

CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t rows,
                            CUstream stream) {
  return fill(to, pitch, value, 4, width, rows, stream);
}
STEPWISE_ALSO("cuMemsetD2D32Async_ptsz", cuMemsetD2D32Async);
