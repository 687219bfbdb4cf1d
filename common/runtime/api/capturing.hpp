// The behaviour of calls while streams are captured into graphs (../graphs/). Called only if
// `state::captures` is not 0, so programs without captures pay for only one test.
//
// watch   A call that is not allowed now invalidates the captures that it affects, as on a GPU.
// source  "Creating a Graph Using Stream Capture" of NVIDIA's CUDA Programming Guide;
//         cudaThreadExchangeStreamCaptureMode in the manual of the runtime API
// tests   ../tests/capture_test.cpp, ../conformance/graph/
#pragma once

#include <optional>

#include "common/runtime/api/copy.hpp"
#include "common/runtime/api/launch.hpp"

namespace stepwise::runtime {

// The status of a call that became a node or is not allowed. Nothing if the stream is not captured
// and the call should run as usual.
std::optional<status> capture_copy(state& s, const copy_request& request);
std::optional<status> capture_fill(state& s, const fill_request& request, cudaStream_t stream);
std::optional<status> capture_kernel(state& s, const launch_request& request);
std::optional<status> capture_host_function(state& s, cudaHostFn_t function, void* data,
                                            cudaStream_t stream);
std::optional<status> capture_allocation(state& s, void** address, std::size_t bytes,
                                         cudaStream_t stream);
std::optional<status> capture_release(state& s, void* address, cudaStream_t stream);
std::optional<status> capture_record(state& s, cudaEvent_t event, cudaStream_t stream,
                                     bool external);
std::optional<status> capture_wait(state& s, cudaEvent_t event, cudaStream_t stream, bool external);

// For calls on a stream that cannot be captured. If the stream is captured, the error is
// stream_capture_unsupported or stream_capture_implicit.
status check_not_captured(state& s, cudaStream_t stream);
// Like check_not_captured(), for all streams at once.
status check_nothing_captured(state& s);
// For calls that might wait for other work. This thread's capture mode decides if they may.
status check_safe(state& s);
// For an event that was last recorded in a captured stream: captured_event during that capture,
// invalid_value after it.
status check_event_not_captured(state& s, cudaEvent_t event);

// Called before an event or a stream is destroyed.
void forget_captured_event(state& s, cudaEvent_t event);
status check_stream_can_go(state& s, cudaStream_t stream);

// Frees an address that a graph allocated. Nothing if no graph allocated it.
std::optional<status> release_graph_memory(state& s, void* address);

// check_safe() if any stream is captured.
inline status safe_now(state& s) { return s.captures == 0 ? status{} : check_safe(s); }

}  // namespace stepwise::runtime
