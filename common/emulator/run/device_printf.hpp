// The output of printf on a device.
//
// watch   A GPU's printf is not C's: an H200 prints rubbish for the length modifiers hh, z, t and j
//         and for a precision of '*'. Here such a specification is printed unchanged.
// source  CUDA C++ Programming Guide, "Formatted Output"; an H200's output. Tested by
//         tests/call_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace stepwise::emulator {

struct printf_arguments {
  // The next argument, of 4 or 8 bytes, at its natural alignment.
  std::function<std::uint64_t(unsigned bytes)> next;
  // The zero-terminated text at an address that an argument gave.
  std::function<std::string(std::uint64_t address)> text;
};

struct printf_result {
  std::string text;
  int arguments = 0;    // that were read
  std::string unknown;  // a specification that a GPU's printf does not support
};

// Formats `format` with these arguments. A broken or unsupported specification is printed
// unchanged, and named in the result.
printf_result format_printf(std::string_view format, const printf_arguments& arguments);

}  // namespace stepwise::emulator
