// Lookup and formats of CUDA arrays.
#pragma once

#include "common/runtime/api/copy.hpp"

namespace stepwise::runtime {

// The array with this handle, or null.
array_record* find_array(state& s, cudaArray_const_t array);

// Sets the record's texel format. invalid_channel_descriptor if texels cannot have this format.
status set_format(texture_record& record, const cudaChannelFormatDesc& format);

// not_supported, naming `function`, if the device is in another process.
status has_textures(const state& s, const char* function);

}  // namespace stepwise::runtime
