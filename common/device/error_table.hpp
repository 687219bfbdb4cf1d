// The names and texts that the CUDA runtime and driver return for their error codes.
#pragma once

namespace stepwise {

struct error_entry {
  int code;
  const char* name;
  const char* driver_name;  // null if only the runtime has the error
  const char* text;
};

// Sorted by code.
inline constexpr error_entry error_table[] = {
#define STEPWISE_ERROR(code, name, driver_name, text) {code, #name, driver_name, text},
#include "common/device/error_table.inc"
#undef STEPWISE_ERROR
};

// The name and the text for an unknown code.
inline constexpr char unrecognized_error[] = "unrecognized error code";

}  // namespace stepwise
