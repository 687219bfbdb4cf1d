// What calls do while streams are captured into graphs (../graphs/): asked only if
// `state::captures` is not 0, so that other programs pay for one test.
//
// watch   A call that may not happen now makes the captures that it meets invalid, as on a GPU.
// source  "Creating a Graph Using Stream Capture" of NVIDIA's CUDA Programming Guide;
//         cudaThreadExchangeStreamCaptureMode in the manual of the runtime API
// tests   ../tests/capture_test.cpp, ../conformance/graph/
#pragma once

#include <optional>

#include "common/runtime/api/copy.hpp"
#include "common/runtime/api/launch.hpp"

namespace stepwise::runtime {

// The outcome of a call that became a node, or that may not happen; nothing: the stream is not
// captured, the call is done as always.
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

// For calls about a stream that cannot be captured: stream_capture_unsupported or
// stream_capture_implicit if they would have to be.
status check_not_captured(state& s, cudaStream_t stream);
// The same for all streams at once.
status check_nothing_captured(state& s);
// For calls that might wait for other work, which the capture mode of this thread decides.
status check_safe(state& s);
// For an event that was recorded in a captured stream last: captured_event while that capture goes
// on, invalid_value after it.
status check_event_not_captured(state& s, cudaEvent_t event);

// The event, or the stream, is gone.
void forget_captured_event(state& s, cudaEvent_t event);
status check_stream_can_go(state& s, cudaStream_t stream);

// An address that a graph allocated was given to a call that frees; nothing: it is none.
std::optional<status> release_graph_memory(state& s, void* address);

// check_safe() where anything is captured.
inline status safe_now(state& s) { return s.captures == 0 ? status{} : check_safe(s); }

}  // namespace stepwise::runtime
