// Names as students wrote them, of kernels and of files. Tested by tests/rules_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stepwise {

// "_Z6reduceILj256EEvPKiPi" is shown as "reduce<256u>"; a name that is not mangled stays as it is.
std::string readable_name(std::string_view mangled);

// "_Z6kernelPi" is shown as "kernel(int*)"; nothing for what is not mangled or would mean too much:
// takes no more time and memory than a few megabytes of text, whatever the name.
std::optional<std::string> demangled(std::string_view mangled);

// ptxas cannot read a quote or a backslash in a `.file`. A file with such a name travels through
// PTX as "/percent-coded/home/me/say %22hi%22.cu". `path` is absolute.
std::string percent_coded(std::string_view path);

// The path that was coded; any other as it is.
std::string decoded_path(std::string_view name);

}  // namespace stepwise
