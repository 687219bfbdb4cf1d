// Texture and surface objects.
#include "common/runtime/api/allocation.hpp"
#include "common/runtime/api/arrays.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

status not_supported(const std::string& what) {
  announce(what + " is not supported");
  return {error::not_supported, what};
}

constexpr std::size_t most_linear_texels = std::size_t{1} << 30;

// Takes texels from linear memory. invalid_value if the memory is not device memory, or is
// misaligned.
status set_memory(state& s, texture_record& record, void* first) {
  record.first = address_of(first);
  const auto area = s.current->find_allocation(record.first);
  if (!area) return invalid_value("the texture's memory is not device memory");
  // On an H200, allocations begin at multiples of 512 bytes. Ours need not, so check the offset.
  if ((record.first - area->address) % 512 != 0)
    return invalid_value(
        "a texture's memory must begin a multiple of 512 bytes into its allocation");
  return {};
}

// Applies a resource description to the record. invalid_value, or not_supported.
status set_resource(state& s, texture_record& record, const cudaResourceDesc& resource) {
  switch (number_of(resource.resType)) {
    case cudaResourceTypeArray: {
      const array_record* const array = find_array(s, resource.res.array.array);
      if (array == nullptr)
        return {error::invalid_resource_handle, "there is no such array; it may have been freed"};
      record = array->texels;
      return {};
    }
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      if (status format = set_format(record, linear.desc); !format.ok()) return format;
      const std::size_t texels = linear.sizeInBytes / record.texel_bytes();
      if (texels > most_linear_texels)
        return invalid_value("linear memory of more than 2^30 texels");
      record.width = static_cast<std::uint32_t>(texels);
      record.layout = texel_layout::linear;
      return set_memory(s, record, linear.devPtr);
    }
    case cudaResourceTypePitch2D: {
      const auto& pitched = resource.res.pitch2D;
      if (status format = set_format(record, pitched.desc); !format.ok()) return format;
      if (pitched.width == 0 || pitched.height == 0 || pitched.width > 131072 ||
          pitched.height > 65000 || pitched.pitchInBytes > 2097120 ||
          pitched.pitchInBytes % 32 != 0)
        return invalid_value(
            "pitched memory of these sizes cannot be a texture (the pitch must be a multiple of 32 "
            "bytes)");
      record.width = static_cast<std::uint32_t>(pitched.width);
      record.height = static_cast<std::uint32_t>(pitched.height);
      record.row_bytes = pitched.pitchInBytes;
      record.layout = texel_layout::pitched;
      return set_memory(s, record, pitched.devPtr);
    }
    case cudaResourceTypeMipmappedArray:
      return not_supported("a texture of a mipmapped array");
    default:
      return invalid_value("the resource has an unknown type");
  }
}

// Applies the sampling parameters to the record.
status set_reading(texture_record& record, const cudaTextureDesc& t) {
  for (int d = 0; d < 3; ++d) {
    const int mode = number_of(t.addressMode[d]);
    if (mode < cudaAddressModeWrap || mode > cudaAddressModeBorder)
      return invalid_value("there is no such address mode");
    record.address[d] = static_cast<texture_address>(mode);
    record.border[d] = t.borderColor[d];
  }
  record.border[3] = t.borderColor[3];
  const int filter = number_of(t.filterMode), read = number_of(t.readMode);
  if (filter < cudaFilterModePoint || filter > cudaFilterModeLinear ||
      read < cudaReadModeElementType || read > cudaReadModeNormalizedFloat)
    return invalid_value("there is no such filter or read mode");
  if (t.seamlessCubemap != 0) return not_supported("a texture with seamlessCubemap");
  const bool integer = record.format != texel_format::floating;
  record.normalized_values = read == cudaReadModeNormalizedFloat ? 1 : 0;
  if (record.normalized_values != 0 && (!integer || record.channel_bits == 32))
    return {static_cast<error>(cudaErrorInvalidNormSetting),
            "only integers of 8 and 16 bits can be read as normalised floats"};
  if (t.sRGB != 0 && record.normalized_values != 0 && record.channel_bits == 8)
    return not_supported("a texture with sRGB");
  record.linear_filter = filter == cudaFilterModeLinear ? 1 : 0;
  if (integer && record.linear_filter != 0 && record.normalized_values == 0)
    return {static_cast<error>(cudaErrorInvalidFilterSetting),
            "integers can be filtered only if they are read as normalised floats"};
  record.normalized_coordinates = t.normalizedCoords != 0 || record.cube != 0 ? 1 : 0;
  return {};
}

// Writes the record to device memory. Its address is the object's handle.
status make_object(state& s, unsigned long long* handle, const texture_record& record,
                   const texture_object& object) {
  note_place(s);
  const auto at = s.current->allocate(sizeof record);
  if (!at.ok()) return refused(at.failure());
  status written = s.current->write(*at, std::as_bytes(std::span(&record, 1)));
  if (!written.ok()) return written;
  if (auto* const on = s.checking_device())
    on->name_allocation(*at, object.is_surface ? "surface object" : "texture object");
  s.textures.objects[*at] = object;
  textures_in_use = true;
  *handle = *at;
  return {};
}

cudaError_t destroy(unsigned long long handle, bool is_surface,
                    std::source_location at = std::source_location::current()) {
  return call(
      [&](state& s) {
        s.wait_for_all();  // deferred kernels may read the object
        // An unknown handle is not an error, as on hardware.
        const auto found = s.textures.objects.find(handle);
        if (found == s.textures.objects.end() || found->second.is_surface != is_surface)
          return status{};
        status outcome = release(s, pointer_of(handle));
        if (outcome.ok()) s.textures.objects.erase(found);
        return outcome;
      },
      at);
}

// Returns one of the descriptions from which an object was created.
template <class T>
cudaError_t describe(T* to, unsigned long long handle, bool is_surface, T texture_object::*part,
                     std::source_location at = std::source_location::current()) {
  return call(
      [&](state& s) {
        const auto found = s.textures.objects.find(handle);
        if (!to || found == s.textures.objects.end() || found->second.is_surface != is_surface)
          return invalid_value("there is no such object");
        *to = found->second.*part;
        return status{};
      },
      at);
}

}  // namespace

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  return call([&](state& s) {
    if (!object || !resource) return invalid_value("cudaCreateTextureObject: a null pointer");
    if (!texture)
      return status{error::invalid_resource_handle, "cudaCreateTextureObject: no description"};
    if (status here = has_textures(s, "cudaCreateTextureObject"); !here.ok()) return here;
    if (view) return not_supported("a texture with a resource view");
    texture_record record;
    status outcome = set_resource(s, record, *resource);
    if (outcome.ok()) outcome = set_reading(record, *texture);
    if (!outcome.ok()) return status{outcome.code, "cudaCreateTextureObject: " + outcome.message};
    record.kind = texture_record::texture;
    return make_object(s, object, record, {*resource, *texture, false});
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) { return destroy(object, false); }

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
  return describe(resource, object, false, &texture_object::resource);
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object) {
  return describe(texture, object, false, &texture_object::texture);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  return call([&](state& s) {
    if (!object || !resource) return invalid_value("cudaCreateSurfaceObject: a null pointer");
    if (status here = has_textures(s, "cudaCreateSurfaceObject"); !here.ok()) return here;
    if (number_of(resource->resType) != cudaResourceTypeArray)
      return invalid_value("cudaCreateSurfaceObject: a surface needs an array");
    const array_record* const array = find_array(s, resource->res.array.array);
    if (array == nullptr)
      return status{error::invalid_resource_handle,
                    "cudaCreateSurfaceObject: there is no such array; it may have been freed"};
    texture_record record = array->texels;
    record.kind = texture_record::surface;
    return make_object(s, object, record, {*resource, {}, true});
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) { return destroy(object, true); }

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
  return describe(resource, object, true, &texture_object::resource);
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* texels,
                                                 const cudaChannelFormatDesc* format, int number) {
  return call([&](state&) {
    texture_record record;
    if (!texels || !format || number != 0)
      return invalid_value("cudaDeviceGetTexture1DLinearMaxWidth: a null pointer, or no device");
    status known = set_format(record, *format);
    if (known.ok()) *texels = most_linear_texels;
    return known;
  });
}
