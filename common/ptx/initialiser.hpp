// Reads a variable's initial value, which consists of nested braces, numbers, strings and
// addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "common/ptx/reader.hpp"

namespace stepwise::ptx {

// Reads the text after '=' into v.initial and v.relocations. v.type, v.vector_length and v.bytes
// must be set. `strides` holds the bytes of one element at each level of braces. If `open_ended`,
// the text gives no outermost extent, and v.bytes is set to the size that the initialiser fills.
void read_initialiser(reader& in, const std::vector<std::uint64_t>& strides, bool open_ended,
                      variable& v);

}  // namespace stepwise::ptx
