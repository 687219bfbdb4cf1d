// A variable's initial value: nested braces, numbers, strings and addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "common/ptx/reader.hpp"

namespace stepwise::ptx {

// Reads the text after '=' into v.initial and v.relocations. `strides` are the bytes of one element
// at each level of braces; v.type, v.vector_length and v.bytes must be set. `open_ended`: the
// outermost extent is not given, and v.bytes becomes the size that the initialiser fills.
void read_initialiser(reader& in, const std::vector<std::uint64_t>& strides, bool open_ended,
                      variable& v);

}  // namespace stepwise::ptx
