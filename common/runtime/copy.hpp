// Copies between areas that the program names by pointers: which side is the device's, and what of
// it is an error.
//
// tests   tests/memory_test.cpp
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
  int kind = cudaMemcpyDefault;  // a cudaMemcpyKind, or what the program passed for one
};

// A linear copy.
copy_request linear_copy(void* to, const void* from, std::size_t bytes, int kind);

// invalid_memcpy_direction, invalid_pitch_value, or invalid_value for a null pointer.
status check_copy(const copy_request& request);

// A checked copy.
status copy(state& s, const copy_request& request);

// A complete API call. A copy of nothing always succeeds.
cudaError_t copy_call(const copy_request& request, cudaStream_t stream) noexcept;

}  // namespace stepwise::runtime
