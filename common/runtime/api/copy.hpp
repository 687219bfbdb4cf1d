// Copies between areas that the program names by pointers: which side is the device's, and what of
// it is an error.
//
// tests   ../tests/memory_test.cpp
#pragma once

#include "common/runtime/api/api.hpp"

namespace stepwise::runtime {

// `layers` layers of `rows` rows of `width` bytes; a pitch is the bytes from one row to the next, a
// layer those from one layer to the next.
struct copy_request {
  void* to = nullptr;
  std::size_t to_pitch = 0;
  const void* from = nullptr;
  std::size_t from_pitch = 0;
  std::size_t width = 0;
  std::size_t rows = 1;
  int kind = cudaMemcpyDefault;  // a cudaMemcpyKind, or what the program passed for one
  std::size_t layers = 1;
  std::size_t to_layer = 0, from_layer = 0;
  cudaStream_t stream = nullptr;  // checked by the function that copies
  bool host_waits = true;         // the call is not one of the asynchronous ones
};

// A linear copy.
copy_request linear_copy(void* to, const void* from, std::size_t bytes, int kind);

// invalid_memcpy_direction, invalid_pitch_value, or invalid_value for a null pointer.
status check_copy(const copy_request& request);

// invalid_value, unless kernels may use the areas that `kind` describes as device memory. Checks
// note where it describes device memory as host memory.
status check_places(state& s, const copy_request& request);

// A checked copy; while its stream is captured, a node of the graph.
status copy(state& s, const copy_request& request);

// The copy that a program describes by boxes of pitched memory or of arrays.
result<copy_request> request_of(state& s, cudaMemcpy3DParms parameters);

// The same copy by an asynchronous call.
copy_request in_stream(copy_request request, cudaStream_t stream);

// A complete API call. A copy of nothing always succeeds.
cudaError_t copy_call(const copy_request& request,
                      std::source_location at = std::source_location::current()) noexcept;

// The same area, to be set to the low bytes of `value`, as many as an element has.
struct fill_request {
  void* to = nullptr;
  std::size_t pitch = 0;
  int value = 0;
  std::size_t width = 0;
  std::size_t rows = 1;
  std::size_t layers = 1;
  std::size_t layer = 0;
  unsigned element_bytes = 1;  // 1, 2 or 4, which divide the width
  bool host_waits = false;     // if the host can use the memory, too
};

// A checked fill; while its stream is captured, a node of the graph.
status fill(state& s, const fill_request& request, cudaStream_t stream);

// A complete API call.
cudaError_t fill_call(const fill_request& request, cudaStream_t stream,
                      std::source_location at = std::source_location::current()) noexcept;
// The same in the default stream, for a call that is not asynchronous: the host waits for the fill
// if the host can use the memory, too.
cudaError_t fill_and_wait(fill_request request,
                          std::source_location at = std::source_location::current()) noexcept;

}  // namespace stepwise::runtime
