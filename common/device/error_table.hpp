// The names and texts that the CUDA runtime returns for its error codes. Tested by
// common/runtime/tests/errors_test.cpp.
#pragma once

namespace stepwise {

struct error_entry {
  int code;
  const char* name;
  const char* text;
};

// Sorted by code.
inline constexpr error_entry error_table[] = {
#define STEPWISE_ERROR(code, name, text) {code, #name, text},
#include "common/device/error_table.inc"
#undef STEPWISE_ERROR
};

// The name and the text for an unknown code.
inline constexpr char unrecognized_error[] = "unrecognized error code";

}  // namespace stepwise
