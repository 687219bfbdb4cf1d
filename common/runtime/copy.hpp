// Copies between areas that the program names by pointers: which side is the device's, and what of
// it is an error.
//
// tests   tests/api_test.cpp
#pragma once

#include "common/runtime/api.hpp"

namespace stepwise::runtime {

// `rows` rows of `width` bytes; the pitches are the bytes from one row to the next.
struct copy_request {
  void* to = nullptr;
  std::size_t to_pitch = 0;
  const void* from = nullptr;
  std::size_t from_pitch = 0;
  std::size_t width = 0;
  std::size_t rows = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};

// A linear copy.
copy_request linear_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

// invalid_memcpy_direction, invalid_pitch_value, or what the device says.
status copy(state& s, const copy_request& request);

}  // namespace stepwise::runtime
