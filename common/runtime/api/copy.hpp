// Copies and fills of memory areas that the program names by pointers, and their errors.
//
// tests   ../tests/memory_test.cpp
#pragma once

#include "common/runtime/api/api.hpp"

namespace stepwise::runtime {

// `layers` layers of `rows` rows of `width` bytes. A pitch is the distance in bytes between rows; a
// layer is the distance in bytes between layers.
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
  cudaStream_t stream = nullptr;  // checked by copy_call()
  bool host_waits = true;         // the call is synchronous
};

// A linear copy.
copy_request linear_copy(void* to, const void* from, std::size_t bytes, int kind);

// invalid_memcpy_direction, invalid_pitch_value, or invalid_value for a null pointer.
status check_copy(const copy_request& request);

// invalid_value, unless kernels may use the areas that `kind` describes as device memory. Checks
// note where `kind` describes device memory as host memory.
status check_places(state& s, const copy_request& request);

// A checked copy or, while its stream is captured, a node of the graph.
status copy(state& s, const copy_request& request);

// The copy that a program describes as boxes in pitched memory or arrays.
result<copy_request> request_of(state& s, cudaMemcpy3DParms parameters);

// The same copy by an asynchronous call.
copy_request in_stream(copy_request request, cudaStream_t stream);

// A complete API call. A copy of 0 bytes always succeeds.
cudaError_t copy_call(const copy_request& request,
                      std::source_location at = std::source_location::current()) noexcept;

// Sets each element of an area to the low `element_bytes` bytes of `value`. `layer` is as in
// copy_request.
struct fill_request {
  void* to = nullptr;
  std::size_t pitch = 0;
  int value = 0;
  std::size_t width = 0;
  std::size_t rows = 1;
  std::size_t layers = 1;
  std::size_t layer = 0;
  unsigned element_bytes = 1;  // 1, 2 or 4; divides the width
  bool host_waits = false;     // if the host can access the memory
};

// A checked fill or, while its stream is captured, a node of the graph.
status fill(state& s, const fill_request& request, cudaStream_t stream);

// A complete API call.
cudaError_t fill_call(const fill_request& request, cudaStream_t stream,
                      std::source_location at = std::source_location::current()) noexcept;
// A synchronous fill in the default stream. The host waits for the fill only if the host can access
// the memory.
cudaError_t fill_and_wait(fill_request request,
                          std::source_location at = std::source_location::current()) noexcept;

}  // namespace stepwise::runtime
