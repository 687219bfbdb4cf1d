// Stream capture: work submitted to a captured stream becomes nodes of a graph.
//
// idea    A sequence is one capture, from cudaStreamBeginCapture to cudaStreamEndCapture. For each
//         stream in it, we keep the nodes that the stream's next node depends on. A stream that
//         waits for an event of the sequence joins it. An error invalidates the sequence until
//         cudaStreamEndCapture.
// source  "Creating a Graph Using Stream Capture" of NVIDIA's CUDA Programming Guide
// tests   ../tests/capture_test.cpp
#pragma once

#include "common/runtime/api/capturing.hpp"
#include "common/runtime/graphs/graph.hpp"

namespace stepwise::runtime {

struct capture_sequence {
  graph* target = nullptr;
  std::unique_ptr<graph> own;  // the target, if cudaStreamBeginCapture created it
  unsigned long long id = 0;
  int mode = cudaStreamCaptureModeGlobal;
  std::uint64_t thread = 0;  // the thread that began the capture
  std::uint64_t origin = 0;  // the stream that began the capture
  bool invalid = false;
  bool ended = false;
};

struct captured_stream {
  std::shared_ptr<capture_sequence> of;
  bool blocking = true;
  std::vector<graph_edge> at;  // dependencies of the next node
  // The same dependencies, in the form that the API returns.
  std::vector<cudaGraphNode_t> nodes;
  std::vector<cudaGraphEdgeData> data;
};

struct captured_event {
  std::shared_ptr<capture_sequence> of;
  std::vector<graph_edge> at;
};

struct capture_set {
  std::map<std::uint64_t, captured_stream> streams;  // by number, see use_of()
  std::map<cudaEvent_t, captured_event> events;      // last recorded in a captured stream
  unsigned long long ids = 0;

  bool writes_to(const graph& g) const;
};
capture_set& captures_of(state& s);

// This thread's cudaStreamCaptureMode.
int& capture_mode_of_thread();

status begin_capture(state& s, cudaStream_t stream, int mode, graph* into,
                     std::vector<graph_edge> before);
status end_capture(state& s, cudaStream_t stream, cudaGraph_t* captured);

// Like the functions in ../api/capturing.hpp, for work that only the driver API offers.
std::optional<status> capture_driver_work(state& s, driver_work work, cudaStream_t stream);

// The capture of a stream, valid or not, or null. stream_capture_implicit for the legacy stream
// while a blocking stream is captured.
result<captured_stream*> capture_of(state& s, cudaStream_t stream);

}  // namespace stepwise::runtime
