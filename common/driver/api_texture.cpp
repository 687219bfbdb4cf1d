// Texture and surface objects: wrappers of the runtime's functions that convert the descriptions.
#include <cstring>
#include <map>
#include <mutex>

#include "common/driver/array_formats.hpp"

using namespace stepwise;
using namespace stepwise::driver;
using runtime::number_of;

namespace {

static_assert(int{CU_RESOURCE_TYPE_ARRAY} == int{cudaResourceTypeArray});
static_assert(int{CU_RESOURCE_TYPE_LINEAR} == int{cudaResourceTypeLinear});
static_assert(int{CU_RESOURCE_TYPE_PITCH2D} == int{cudaResourceTypePitch2D});
static_assert(int{CU_TR_ADDRESS_MODE_BORDER} == int{cudaAddressModeBorder});
static_assert(int{CU_TR_FILTER_MODE_LINEAR} == int{cudaFilterModeLinear});

CUresult resource_of(const CUDA_RESOURCE_DESC& from, cudaResourceDesc& to) {
  to = {};
  const int type = number_of(from.resType);
  to.resType = static_cast<cudaResourceType>(type);
  if (from.flags != 0) return CUDA_ERROR_INVALID_VALUE;
  switch (type) {
    case CU_RESOURCE_TYPE_ARRAY:
      to.res.array.array = array_of(from.res.array.hArray);
      return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_LINEAR:
      to.res.linear.devPtr = pointer_of(from.res.linear.devPtr);
      to.res.linear.sizeInBytes = from.res.linear.sizeInBytes;
      return channels_of(from.res.linear.format, from.res.linear.numChannels, to.res.linear.desc);
    case CU_RESOURCE_TYPE_PITCH2D:
      to.res.pitch2D.devPtr = pointer_of(from.res.pitch2D.devPtr);
      to.res.pitch2D.width = from.res.pitch2D.width;
      to.res.pitch2D.height = from.res.pitch2D.height;
      to.res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
      return channels_of(from.res.pitch2D.format, from.res.pitch2D.numChannels,
                         to.res.pitch2D.desc);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return refused("textures of mipmapped arrays");
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

void resource_of(const cudaResourceDesc& from, CUDA_RESOURCE_DESC& to) {
  to = {};
  to.resType = static_cast<CUresourcetype>(number_of(from.resType));
  switch (number_of(from.resType)) {
    case cudaResourceTypeArray:
      to.res.array.hArray = array_of(from.res.array.array);
      break;
    case cudaResourceTypeLinear:
      to.res.linear.devPtr = address_of(from.res.linear.devPtr);
      to.res.linear.format = format_of(from.res.linear.desc);
      to.res.linear.numChannels = channel_count(from.res.linear.desc);
      to.res.linear.sizeInBytes = from.res.linear.sizeInBytes;
      break;
    default:
      to.res.pitch2D.devPtr = address_of(from.res.pitch2D.devPtr);
      to.res.pitch2D.format = format_of(from.res.pitch2D.desc);
      to.res.pitch2D.numChannels = channel_count(from.res.pitch2D.desc);
      to.res.pitch2D.width = from.res.pitch2D.width;
      to.res.pitch2D.height = from.res.pitch2D.height;
      to.res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
  }
}

// The channels of a resource.
cudaError_t channels_of(const cudaResourceDesc& resource, cudaChannelFormatDesc& to) {
  switch (number_of(resource.resType)) {
    case cudaResourceTypeArray:
      return cudaArrayGetInfo(&to, nullptr, nullptr, resource.res.array.array);
    case cudaResourceTypeLinear:
      return to = resource.res.linear.desc, cudaSuccess;
    default:
      return to = resource.res.pitch2D.desc, cudaSuccess;
  }
}

bool is_promoted(const cudaChannelFormatDesc& f) {
  return f.f != cudaChannelFormatKindFloat && f.x < 32;
}

// Integers of 8 and 16 bits are read as floats unless a flag says otherwise.
cudaTextureDesc reading_of(const CUDA_TEXTURE_DESC& from, const cudaChannelFormatDesc& channels) {
  cudaTextureDesc to{};
  for (int d = 0; d < 3; ++d)
    to.addressMode[d] = static_cast<cudaTextureAddressMode>(number_of(from.addressMode[d]));
  to.filterMode = static_cast<cudaTextureFilterMode>(number_of(from.filterMode));
  const bool promoted = is_promoted(channels) && (from.flags & CU_TRSF_READ_AS_INTEGER) == 0;
  to.readMode = promoted ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  to.normalizedCoords = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  to.sRGB = (from.flags & CU_TRSF_SRGB) != 0;
  to.disableTrilinearOptimization = (from.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  to.seamlessCubemap = (from.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<cudaTextureFilterMode>(number_of(from.mipmapFilterMode));
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  std::memcpy(to.borderColor, from.borderColor, sizeof to.borderColor);
  return to;
}

CUDA_TEXTURE_DESC reading_of(const cudaTextureDesc& from, const cudaChannelFormatDesc& channels) {
  CUDA_TEXTURE_DESC to{};
  for (int d = 0; d < 3; ++d)
    to.addressMode[d] = static_cast<CUaddress_mode>(number_of(from.addressMode[d]));
  to.filterMode = static_cast<CUfilter_mode>(number_of(from.filterMode));
  const bool as_integer =
      channels.f != cudaChannelFormatKindFloat && from.readMode == cudaReadModeElementType;
  to.flags = (as_integer ? CU_TRSF_READ_AS_INTEGER : 0U) |
             (from.normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0U) |
             (from.sRGB ? CU_TRSF_SRGB : 0U) |
             (from.disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0U) |
             (from.seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0U);
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<CUfilter_mode>(number_of(from.mipmapFilterMode));
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  std::memcpy(to.borderColor, from.borderColor, sizeof to.borderColor);
  return to;
}

// The flags with which each texture was created here, because the runtime does not store flags
// without an effect. Never destroyed, because static destructors may call the driver.
struct texture_flags {
  std::mutex lock;
  std::map<CUtexObject, unsigned> by_object;
  static texture_flags& get() {
    static auto* const only = new texture_flags;
    return *only;
  }
};

constexpr unsigned known_texture_flags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                                         CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                                         CU_TRSF_SEAMLESS_CUBEMAP;

}  // namespace

CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view) {
  return in_context([&](context& owner) -> CUresult {
    if (!object || !resource || !texture || (texture->flags & ~known_texture_flags) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (view) return refused("textures with a resource view");
    cudaResourceDesc texels;
    const CUresult known = resource_of(*resource, texels);
    if (known != CUDA_SUCCESS) return known;
    cudaChannelFormatDesc channels;
    cudaError_t outcome = channels_of(texels, channels);
    if (outcome != cudaSuccess) return result_of(outcome);
    const cudaTextureDesc reading = reading_of(*texture, channels);
    outcome = cudaCreateTextureObject(object, &texels, &reading, nullptr);
    if (outcome != cudaSuccess) return result_of(outcome);
    contexts::get().own(owner, &context::textures, *object);
    texture_flags& flags = texture_flags::get();
    const std::lock_guard guard(flags.lock);
    flags.by_object[*object] = texture->flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexObjectDestroy(CUtexObject object) {
  return in_context([&](context&) {
    contexts::get().disown(&context::textures, object);
    return cudaDestroyTextureObject(object);
  });
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject object) {
  return in_context([&](context&) {
    cudaResourceDesc texels;
    const cudaError_t known =
        resource ? cudaGetTextureObjectResourceDesc(&texels, object) : cudaErrorInvalidValue;
    if (known == cudaSuccess) resource_of(texels, *resource);
    return known;
  });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* texture, CUtexObject object) {
  return in_context([&](context&) {
    cudaResourceDesc texels;
    cudaTextureDesc reading;
    cudaChannelFormatDesc channels{};
    cudaError_t known =
        texture ? cudaGetTextureObjectResourceDesc(&texels, object) : cudaErrorInvalidValue;
    if (known == cudaSuccess) known = cudaGetTextureObjectTextureDesc(&reading, object);
    if (known != cudaSuccess) return known;
    (void)channels_of(texels, channels);  // the array may have been destroyed
    *texture = reading_of(reading, channels);
    // Use the stored flags only if they match, because another texture may have this handle by now.
    texture_flags& flags = texture_flags::get();
    const std::lock_guard guard(flags.lock);
    const auto given = flags.by_object.find(object);
    if (given == flags.by_object.end()) return known;
    CUDA_TEXTURE_DESC as_given = *texture;
    as_given.flags = given->second;
    const cudaTextureDesc again = reading_of(as_given, channels);
    if (std::memcmp(&again, &reading, sizeof again) == 0) *texture = as_given;
    return known;
  });
}

// No texture has a resource view.
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC*, CUtexObject) {
  return in_context([](context&) { return CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  return in_context([&](context& owner) -> CUresult {
    if (!object || !resource) return CUDA_ERROR_INVALID_VALUE;
    cudaResourceDesc texels;
    const CUresult known = resource_of(*resource, texels);
    if (known != CUDA_SUCCESS) return known;
    const cudaError_t outcome = cudaCreateSurfaceObject(object, &texels);
    if (outcome == cudaSuccess) contexts::get().own(owner, &context::surfaces, *object);
    return result_of(outcome);
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject object) {
  return in_context([&](context&) {
    contexts::get().disown(&context::surfaces, object);
    return cudaDestroySurfaceObject(object);
  });
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject object) {
  return in_context([&](context&) {
    cudaResourceDesc texels;
    const cudaError_t known =
        resource ? cudaGetSurfaceObjectResourceDesc(&texels, object) : cudaErrorInvalidValue;
    if (known == cudaSuccess) resource_of(texels, *resource);
    return known;
  });
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* texels, CUarray_format format,
                                            unsigned channels, CUdevice device) {
  return of_device(device, [&]() -> CUresult {
    cudaChannelFormatDesc as_channels;
    if (!texels) return CUDA_ERROR_INVALID_VALUE;
    const CUresult known = driver::channels_of(format, channels, as_channels);
    if (known != CUDA_SUCCESS) return known;
    return result_of(cudaDeviceGetTexture1DLinearMaxWidth(texels, &as_channels, 0));
  });
}
