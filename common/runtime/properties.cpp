// Fills the structure field by field from the attributes in the GPU's description.
#include "common/runtime/properties.hpp"

#include <algorithm>
#include <cstring>

namespace stepwise::runtime {
namespace {

// The attribute for each integer field of cudaDeviceProp (the structure in CUDA 13).
struct field {
  int cudaDeviceProp::*place;
  cudaDeviceAttr attribute;
};
constexpr field int_fields[] = {
    {&cudaDeviceProp::regsPerBlock, cudaDevAttrMaxRegistersPerBlock},
    {&cudaDeviceProp::warpSize, cudaDevAttrWarpSize},
    {&cudaDeviceProp::maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock},
    {&cudaDeviceProp::major, cudaDevAttrComputeCapabilityMajor},
    {&cudaDeviceProp::minor, cudaDevAttrComputeCapabilityMinor},
    {&cudaDeviceProp::multiProcessorCount, cudaDevAttrMultiProcessorCount},
    {&cudaDeviceProp::integrated, cudaDevAttrIntegrated},
    {&cudaDeviceProp::canMapHostMemory, cudaDevAttrCanMapHostMemory},
    {&cudaDeviceProp::maxTexture1D, cudaDevAttrMaxTexture1DWidth},
    {&cudaDeviceProp::maxTexture1DMipmap, cudaDevAttrMaxTexture1DMipmappedWidth},
    {&cudaDeviceProp::maxTextureCubemap, cudaDevAttrMaxTextureCubemapWidth},
    {&cudaDeviceProp::maxSurface1D, cudaDevAttrMaxSurface1DWidth},
    {&cudaDeviceProp::maxSurfaceCubemap, cudaDevAttrMaxSurfaceCubemapWidth},
    {&cudaDeviceProp::concurrentKernels, cudaDevAttrConcurrentKernels},
    {&cudaDeviceProp::ECCEnabled, cudaDevAttrEccEnabled},
    {&cudaDeviceProp::pciBusID, cudaDevAttrPciBusId},
    {&cudaDeviceProp::pciDeviceID, cudaDevAttrPciDeviceId},
    {&cudaDeviceProp::pciDomainID, cudaDevAttrPciDomainId},
    {&cudaDeviceProp::tccDriver, cudaDevAttrTccDriver},
    {&cudaDeviceProp::asyncEngineCount, cudaDevAttrAsyncEngineCount},
    {&cudaDeviceProp::unifiedAddressing, cudaDevAttrUnifiedAddressing},
    {&cudaDeviceProp::memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth},
    {&cudaDeviceProp::l2CacheSize, cudaDevAttrL2CacheSize},
    {&cudaDeviceProp::persistingL2CacheMaxSize, cudaDevAttrMaxPersistingL2CacheSize},
    {&cudaDeviceProp::maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor},
    {&cudaDeviceProp::streamPrioritiesSupported, cudaDevAttrStreamPrioritiesSupported},
    {&cudaDeviceProp::globalL1CacheSupported, cudaDevAttrGlobalL1CacheSupported},
    {&cudaDeviceProp::localL1CacheSupported, cudaDevAttrLocalL1CacheSupported},
    {&cudaDeviceProp::regsPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor},
    {&cudaDeviceProp::managedMemory, cudaDevAttrManagedMemory},
    {&cudaDeviceProp::isMultiGpuBoard, cudaDevAttrIsMultiGpuBoard},
    {&cudaDeviceProp::multiGpuBoardGroupID, cudaDevAttrMultiGpuBoardGroupID},
    {&cudaDeviceProp::hostNativeAtomicSupported, cudaDevAttrHostNativeAtomicSupported},
    {&cudaDeviceProp::pageableMemoryAccess, cudaDevAttrPageableMemoryAccess},
    {&cudaDeviceProp::concurrentManagedAccess, cudaDevAttrConcurrentManagedAccess},
    {&cudaDeviceProp::computePreemptionSupported, cudaDevAttrComputePreemptionSupported},
    {&cudaDeviceProp::canUseHostPointerForRegisteredMem,
     cudaDevAttrCanUseHostPointerForRegisteredMem},
    {&cudaDeviceProp::cooperativeLaunch, cudaDevAttrCooperativeLaunch},
    {&cudaDeviceProp::pageableMemoryAccessUsesHostPageTables,
     cudaDevAttrPageableMemoryAccessUsesHostPageTables},
    {&cudaDeviceProp::directManagedMemAccessFromHost, cudaDevAttrDirectManagedMemAccessFromHost},
    {&cudaDeviceProp::maxBlocksPerMultiProcessor, cudaDevAttrMaxBlocksPerMultiprocessor},
    {&cudaDeviceProp::accessPolicyMaxWindowSize, cudaDevAttrMaxAccessPolicyWindowSize},
    {&cudaDeviceProp::hostRegisterSupported, cudaDevAttrHostRegisterSupported},
    {&cudaDeviceProp::sparseCudaArraySupported, cudaDevAttrSparseCudaArraySupported},
    {&cudaDeviceProp::hostRegisterReadOnlySupported, cudaDevAttrHostRegisterReadOnlySupported},
    {&cudaDeviceProp::timelineSemaphoreInteropSupported,
     cudaDevAttrTimelineSemaphoreInteropSupported},
    {&cudaDeviceProp::memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported},
    {&cudaDeviceProp::gpuDirectRDMASupported, cudaDevAttrGPUDirectRDMASupported},
    {&cudaDeviceProp::gpuDirectRDMAWritesOrdering, cudaDevAttrGPUDirectRDMAWritesOrdering},
    {&cudaDeviceProp::deferredMappingCudaArraySupported,
     cudaDevAttrDeferredMappingCudaArraySupported},
    {&cudaDeviceProp::ipcEventSupported, cudaDevAttrIpcEventSupport},
    {&cudaDeviceProp::clusterLaunch, cudaDevAttrClusterLaunch},
    // CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, which the runtime's header does not name.
    {&cudaDeviceProp::unifiedFunctionPointers, static_cast<cudaDeviceAttr>(129)},
    {&cudaDeviceProp::deviceNumaConfig, cudaDevAttrNumaConfig},
    {&cudaDeviceProp::deviceNumaId, cudaDevAttrNumaId},
    {&cudaDeviceProp::mpsEnabled, cudaDevAttrMpsEnabled},
    {&cudaDeviceProp::hostNumaId, cudaDevAttrHostNumaId},
    {&cudaDeviceProp::hostNumaMultinodeIpcSupported, cudaDevAttrHostNumaMultinodeIpcSupported},
};

class filler {
 public:
  filler(const gpu& model, cudaDeviceProp& out) : model_(model), out_(out) {}

  int at(cudaDeviceAttr attribute) const {
    const auto found = model_.attributes.find(attribute);
    return found == model_.attributes.end() ? 0 : found->second;
  }
  std::size_t bytes(cudaDeviceAttr attribute) const {
    return static_cast<std::size_t>(at(attribute));
  }

  template <std::size_t Count, class... Attributes>
  void sides(int (&place)[Count], Attributes... attributes) const {
    static_assert(Count == sizeof...(attributes));
    const cudaDeviceAttr all[] = {attributes...};
    for (std::size_t i = 0; i < Count; i++) place[i] = at(all[i]);
  }

  void fill() {
    std::strncpy(out_.name, model_.name.c_str(), sizeof out_.name - 1);
    for (const field& f : int_fields) out_.*f.place = at(f.attribute);
    out_.totalGlobalMem = model_.memory_bytes;
    fill_sizes();
    fill_textures();
    fill_surfaces();
  }

 private:
  void fill_sizes() {
    out_.sharedMemPerBlock = bytes(cudaDevAttrMaxSharedMemoryPerBlock);
    out_.sharedMemPerBlockOptin = bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    out_.sharedMemPerMultiprocessor = bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    out_.reservedSharedMemPerBlock = bytes(cudaDevAttrReservedSharedMemoryPerBlock);
    out_.memPitch = bytes(cudaDevAttrMaxPitch);
    out_.totalConstMem = bytes(cudaDevAttrTotalConstantMemory);
    out_.textureAlignment = bytes(cudaDevAttrTextureAlignment);
    out_.texturePitchAlignment = bytes(cudaDevAttrTexturePitchAlignment);
    out_.surfaceAlignment = bytes(cudaDevAttrSurfaceAlignment);
    out_.gpuDirectRDMAFlushWritesOptions =
        static_cast<unsigned>(at(cudaDevAttrGPUDirectRDMAFlushWritesOptions));
    out_.memoryPoolSupportedHandleTypes =
        static_cast<unsigned>(at(cudaDevAttrMemoryPoolSupportedHandleTypes));
    out_.gpuPciDeviceID = static_cast<unsigned>(at(cudaDevAttrGpuPciDeviceId));
    out_.gpuPciSubsystemID = static_cast<unsigned>(at(cudaDevAttrGpuPciSubsystemId));
    sides(out_.maxThreadsDim, cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY,
          cudaDevAttrMaxBlockDimZ);
    sides(out_.maxGridSize, cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ);
  }

  void fill_textures() {
    sides(out_.maxTexture2D, cudaDevAttrMaxTexture2DWidth, cudaDevAttrMaxTexture2DHeight);
    sides(out_.maxTexture2DMipmap, cudaDevAttrMaxTexture2DMipmappedWidth,
          cudaDevAttrMaxTexture2DMipmappedHeight);
    sides(out_.maxTexture2DLinear, cudaDevAttrMaxTexture2DLinearWidth,
          cudaDevAttrMaxTexture2DLinearHeight, cudaDevAttrMaxTexture2DLinearPitch);
    sides(out_.maxTexture2DGather, cudaDevAttrMaxTexture2DGatherWidth,
          cudaDevAttrMaxTexture2DGatherHeight);
    sides(out_.maxTexture3D, cudaDevAttrMaxTexture3DWidth, cudaDevAttrMaxTexture3DHeight,
          cudaDevAttrMaxTexture3DDepth);
    sides(out_.maxTexture3DAlt, cudaDevAttrMaxTexture3DWidthAlt, cudaDevAttrMaxTexture3DHeightAlt,
          cudaDevAttrMaxTexture3DDepthAlt);
    sides(out_.maxTexture1DLayered, cudaDevAttrMaxTexture1DLayeredWidth,
          cudaDevAttrMaxTexture1DLayeredLayers);
    sides(out_.maxTexture2DLayered, cudaDevAttrMaxTexture2DLayeredWidth,
          cudaDevAttrMaxTexture2DLayeredHeight, cudaDevAttrMaxTexture2DLayeredLayers);
    sides(out_.maxTextureCubemapLayered, cudaDevAttrMaxTextureCubemapLayeredWidth,
          cudaDevAttrMaxTextureCubemapLayeredLayers);
  }

  void fill_surfaces() {
    sides(out_.maxSurface2D, cudaDevAttrMaxSurface2DWidth, cudaDevAttrMaxSurface2DHeight);
    sides(out_.maxSurface3D, cudaDevAttrMaxSurface3DWidth, cudaDevAttrMaxSurface3DHeight,
          cudaDevAttrMaxSurface3DDepth);
    sides(out_.maxSurface1DLayered, cudaDevAttrMaxSurface1DLayeredWidth,
          cudaDevAttrMaxSurface1DLayeredLayers);
    sides(out_.maxSurface2DLayered, cudaDevAttrMaxSurface2DLayeredWidth,
          cudaDevAttrMaxSurface2DLayeredHeight, cudaDevAttrMaxSurface2DLayeredLayers);
    sides(out_.maxSurfaceCubemapLayered, cudaDevAttrMaxSurfaceCubemapLayeredWidth,
          cudaDevAttrMaxSurfaceCubemapLayeredLayers);
  }

  const gpu& model_;
  cudaDeviceProp& out_;
};

}  // namespace

cudaDeviceProp properties_of(const gpu& model) {
  cudaDeviceProp out;
  std::memset(&out, 0, sizeof out);
  filler(model, out).fill();
  return out;
}

}  // namespace stepwise::runtime
