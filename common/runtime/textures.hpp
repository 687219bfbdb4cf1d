// CUDA arrays, and the texture and surface objects that name them or other memory.
//
// idea    An array is an allocation of the device whose address no program is told. An object is a
//         record in device memory (common/device/texture_record.hpp), and its handle the address.
// tests   conformance/texture/
#pragma once

#include <driver_types.h>
#include <texture_types.h>

#include <map>
#include <set>

#include "common/device/texture_record.hpp"

namespace stepwise::runtime {

// What a cudaArray_t points to.
struct array_record {
  texture_record texels;  // where they lie, and of what format they are
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  // as the program gave it: 0 for dimensions that there are not
  unsigned flags = 0;
};

// What an object was made of.
struct texture_object {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};  // nothing of a surface
  bool is_surface = false;
};

struct texture_set {
  std::set<array_record*> arrays;
  std::map<unsigned long long, texture_object> objects;  // by handle

  void clear() {
    for (array_record* array : arrays) delete array;
    arrays.clear();
    objects.clear();
  }
};

}  // namespace stepwise::runtime
