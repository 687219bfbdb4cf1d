// Names of kernels and files as the source code has them. Tested by tests/rules_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stepwise {

// Turns "_Z6reduceILj256EEvPKiPi" into "reduce<256u>". A name that is not mangled is unchanged.
std::string readable_name(std::string_view mangled);

// Turns "_Z6kernelPi" into "kernel(int*)". Returns nothing if the name is not mangled or would
// expand too much, so the time and memory are at most those for a few megabytes of text.
std::optional<std::string> demangled(std::string_view mangled);

// ptxas cannot read a quote or a backslash in a `.file`, so PTX encodes such a name as
// "/percent-coded/home/me/say %22hi%22.cu". `path` is absolute.
std::string percent_coded(std::string_view path);

// The path that was encoded. Any other name is unchanged.
std::string decoded_path(std::string_view name);

}  // namespace stepwise
