// Boxes of CUDA arrays, for the calls that copy.
#pragma once

#include "common/runtime/api/copy.hpp"

namespace stepwise::runtime {

// The array that a program names; null: there is none.
array_record* find_array(state& s, cudaArray_const_t array);

// Which formats texels can have: fills what a record says of them. invalid_channel_descriptor.
status set_format(texture_record& record, const cudaChannelFormatDesc& format);

// Textures and arrays in a process whose device is another one's are refused by name.
status has_textures(const state& s, const char* function);

}  // namespace stepwise::runtime
