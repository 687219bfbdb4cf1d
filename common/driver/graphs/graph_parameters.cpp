// Converts node parameters.
#include "common/driver/graphs/graph_parameters.hpp"

#include <cstring>

#include "common/driver/array_formats.hpp"
#include "common/driver/memory_types.hpp"

namespace stepwise::driver {
namespace {

using runtime::number_of;

static_assert(sizeof(CUgraphNodeParams) == sizeof(cudaGraphNodeParams));
static_assert(offsetof(CUgraphNodeParams, kernel) == offsetof(cudaGraphNodeParams, kernel));
static_assert(offsetof(CUgraphNodeParams, alloc.dptr) == offsetof(cudaGraphNodeParams, alloc.dptr));
static_assert(offsetof(CUgraphNodeParams, conditional.phGraph_out) ==
              offsetof(cudaGraphNodeParams, conditional.phGraph_out));
static_assert(offsetof(CUgraphNodeParams, memset.height) ==
              offsetof(cudaGraphNodeParams, memset.height));
static_assert(int{CU_GRAPH_NODE_TYPE_CONDITIONAL} == int{cudaGraphNodeTypeConditional});
static_assert(int{CU_GRAPH_NODE_TYPE_MEM_FREE} == int{cudaGraphNodeTypeMemFree});
static_assert(int{CU_GRAPH_COND_TYPE_SWITCH} == int{cudaGraphCondTypeSwitch});

// One end of a copy.
struct copy_end {
  CUmemorytype type;
  void* host;
  CUdeviceptr device;
  std::size_t pitch, height;
};

// An array is device memory.
memory_place place_of_end(CUmemorytype type) {
  return is_array(type) ? memory_place::device : place_of(type);
}

// For an end that is an array, converts the position and the width of the copy to texels.
CUresult count_texels(CUarray array, cudaPos& at, cudaExtent& extent, std::size_t& texel) {
  cudaChannelFormatDesc format;
  if (cudaGetChannelDesc(&format, array_of(array)) != cudaSuccess) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t bytes = texel_bytes(format);
  if (at.x % bytes != 0) return CUDA_ERROR_INVALID_VALUE;
  at.x /= bytes;
  if (texel == bytes) return CUDA_SUCCESS;  // the other end has the same texel size
  if (texel != 0 || extent.width % bytes != 0) return CUDA_ERROR_INVALID_VALUE;
  texel = bytes;
  extent.width /= bytes;
  return CUDA_SUCCESS;
}

// The pitched pointer of an end. There are no gaps between rows if no pitch is given.
cudaPitchedPtr pitched(const copy_end& e, const CUDA_MEMCPY3D& c, const cudaPos& at) {
  void* const first = place_of(e.type) == memory_place::host ? e.host : pointer_of(e.device);
  return {first, e.pitch ? e.pitch : c.WidthInBytes + at.x, c.WidthInBytes,
          e.height ? e.height : c.Height + at.y};
}

// The memory types of a copy's destination and source.
std::pair<CUmemorytype, CUmemorytype> types_of(int direction) {
  switch (direction) {
    case cudaMemcpyHostToHost:
      return {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST};
    case cudaMemcpyHostToDevice:
      return {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST};
    case cudaMemcpyDeviceToHost:
      return {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE};
    case cudaMemcpyDeviceToDevice:
      return {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE};
    default:
      return {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED};
  }
}

}  // namespace

CUresult check_context(CUcontext asked) {
  const bool there =
      asked ? contexts::get().exists(context_of(asked)) : contexts::get().current() != nullptr;
  return there ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

cudaKernelNodeParams kernel_parameters(const CUDA_KERNEL_NODE_PARAMS_v1& p, CUkernel kernel) {
  cudaKernelNodeParams to{};
  to.func = p.func ? static_cast<void*>(p.func) : static_cast<void*>(kernel);
  to.gridDim = {p.gridDimX, p.gridDimY, p.gridDimZ};
  to.blockDim = {p.blockDimX, p.blockDimY, p.blockDimZ};
  to.sharedMemBytes = p.sharedMemBytes;
  to.kernelParams = p.kernelParams;
  to.extra = p.extra;
  return to;
}

CUresult kernel_parameters(const cudaKernelNodeParams& from, CUDA_KERNEL_NODE_PARAMS_v1& p) {
  // The runtime may identify the kernel by its host stub. Convert the stub to the function.
  cudaFunction_t function = nullptr;
  const cudaError_t known = cudaGetFuncBySymbol(&function, from.func);
  if (known != cudaSuccess) return result_of(known);
  p.func = function;
  p.gridDimX = from.gridDim.x;
  p.gridDimY = from.gridDim.y;
  p.gridDimZ = from.gridDim.z;
  p.blockDimX = from.blockDim.x;
  p.blockDimY = from.blockDim.y;
  p.blockDimZ = from.blockDim.z;
  p.sharedMemBytes = from.sharedMemBytes;
  p.kernelParams = from.kernelParams;
  p.extra = from.extra;
  return CUDA_SUCCESS;
}

CUresult copy_parameters(const CUDA_MEMCPY3D& c, cudaMemcpy3DParms& p) {
  for (const CUmemorytype type : {c.dstMemoryType, c.srcMemoryType})
    if (place_of_end(type) == memory_place::unknown) return CUDA_ERROR_INVALID_VALUE;
  p = {};
  p.dstPos = {c.dstXInBytes, c.dstY, c.dstZ};
  p.srcPos = {c.srcXInBytes, c.srcY, c.srcZ};
  p.extent = {c.WidthInBytes, c.Height, c.Depth};
  std::size_t texel = 0;
  CUresult sound = CUDA_SUCCESS;
  if (is_array(c.dstMemoryType)) {
    p.dstArray = array_of(c.dstArray);
    sound = count_texels(c.dstArray, p.dstPos, p.extent, texel);
  } else {
    p.dstPtr =
        pitched({c.dstMemoryType, c.dstHost, c.dstDevice, c.dstPitch, c.dstHeight}, c, p.dstPos);
  }
  if (is_array(c.srcMemoryType)) {
    p.srcArray = array_of(c.srcArray);
    if (sound == CUDA_SUCCESS) sound = count_texels(c.srcArray, p.srcPos, p.extent, texel);
  } else {
    p.srcPtr = pitched(
        {c.srcMemoryType, const_cast<void*>(c.srcHost), c.srcDevice, c.srcPitch, c.srcHeight}, c,
        p.srcPos);
  }
  p.kind = direction_between(place_of_end(c.dstMemoryType), place_of_end(c.srcMemoryType));
  return sound;
}

CUresult copy_parameters(const cudaMemcpy3DParms& p, CUDA_MEMCPY3D& c) {
  c = {};
  std::tie(c.dstMemoryType, c.srcMemoryType) = types_of(number_of(p.kind));
  c.dstXInBytes = p.dstPos.x;
  c.dstY = p.dstPos.y;
  c.dstZ = p.dstPos.z;
  c.dstPitch = p.dstPtr.pitch;
  c.dstHeight = p.dstPtr.ysize;
  c.srcXInBytes = p.srcPos.x;
  c.srcY = p.srcPos.y;
  c.srcZ = p.srcPos.z;
  c.srcPitch = p.srcPtr.pitch;
  c.srcHeight = p.srcPtr.ysize;
  if (place_of(c.dstMemoryType) == memory_place::host)
    c.dstHost = p.dstPtr.ptr;
  else
    c.dstDevice = address_of(p.dstPtr.ptr);
  if (place_of(c.srcMemoryType) == memory_place::host)
    c.srcHost = p.srcPtr.ptr;
  else
    c.srcDevice = address_of(p.srcPtr.ptr);
  c.WidthInBytes = p.extent.width;
  c.Height = p.extent.height;
  c.Depth = p.extent.depth;
  for (const bool is_source : {false, true}) {
    const cudaArray_t array = is_source ? p.srcArray : p.dstArray;
    if (!array) continue;
    cudaChannelFormatDesc format;
    const cudaError_t known = cudaGetChannelDesc(&format, array);
    if (known != cudaSuccess) return result_of(known);
    (is_source ? c.srcMemoryType : c.dstMemoryType) = CU_MEMORYTYPE_ARRAY;
    (is_source ? c.srcArray : c.dstArray) = array_of(array);
    (is_source ? c.srcXInBytes : c.dstXInBytes) *= texel_bytes(format);
    c.WidthInBytes = p.extent.width * texel_bytes(format);
  }
  return CUDA_SUCCESS;
}

CUresult node_parameters(const CUgraphNodeParams& from, cudaGraphNodeParams& p) {
  std::memcpy(static_cast<void*>(&p), &from, sizeof p);
  switch (number_of(from.type)) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const CUDA_KERNEL_NODE_PARAMS_v3& k = from.kernel;
      if (!k.func) p.kernel.func = k.kern;
      return k.func ? CUDA_SUCCESS : check_context(k.ctx);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: {
      const CUresult there = check_context(from.memcpy.copyCtx);
      if (there != CUDA_SUCCESS) return there;
      p.memcpy = {};
      p.memcpy.flags = from.memcpy.flags;
      return copy_parameters(from.memcpy.copyParams, p.memcpy.copyParams);
    }
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return check_context(from.memset.ctx);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return check_context(from.conditional.ctx);
    default:
      return CUDA_SUCCESS;
  }
}

void take_answers(const cudaGraphNodeParams& p, CUgraphNodeParams& to) {
  if (number_of(p.type) == cudaGraphNodeTypeMemAlloc) to.alloc.dptr = address_of(p.alloc.dptr);
  if (number_of(p.type) == cudaGraphNodeTypeConditional)
    to.conditional.phGraph_out = p.conditional.phGraph_out;
}

}  // namespace stepwise::driver
