// CUDA arrays, and texture and surface objects, which refer to arrays or other memory.
//
// idea    An array is a device allocation whose address is hidden from the program. An object is a
//         record in device memory (common/device/texture_record.hpp). Its handle is its address.
// tests   conformance/texture/
#pragma once

#include <driver_types.h>
#include <texture_types.h>

#include <map>
#include <set>

#include "common/device/texture_record.hpp"

namespace stepwise::runtime {

// The target of a cudaArray_t.
struct array_record {
  texture_record texels;  // their address and format
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  // as the program passed it, 0 for unused dimensions
  unsigned flags = 0;
};

// The descriptions from which an object was created.
struct texture_object {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};  // unused for surfaces
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
