// Streams that are captured: what is asked of them becomes nodes of a graph.
//
// idea    A sequence is one capture, from cudaStreamBeginCapture to cudaStreamEndCapture. A stream
//         takes part in it with the nodes that its next node will depend on; one that waits for an
//         event of the sequence joins it. An error makes the sequence invalid, which only its end
//         ends.
// source  "Creating a Graph Using Stream Capture" of NVIDIA's CUDA Programming Guide
// tests   ../tests/capture_test.cpp
#pragma once

#include "common/runtime/api/capturing.hpp"
#include "common/runtime/graphs/graph.hpp"

namespace stepwise::runtime {

struct capture_sequence {
  graph* target = nullptr;
  std::unique_ptr<graph> own;  // of cudaStreamBeginCapture: the target
  unsigned long long id = 0;
  int mode = cudaStreamCaptureModeGlobal;
  std::uint64_t thread = 0;  // that began it
  std::uint64_t origin = 0;  // the stream in which it began
  bool invalid = false;
  bool ended = false;
};

struct captured_stream {
  std::shared_ptr<capture_sequence> of;
  bool blocking = true;
  std::vector<graph_edge> at;  // what the next node depends on
  // The same, as the program is shown it.
  std::vector<cudaGraphNode_t> nodes;
  std::vector<cudaGraphEdgeData> data;
};

struct captured_event {
  std::shared_ptr<capture_sequence> of;
  std::vector<graph_edge> at;
};

struct capture_set {
  std::map<std::uint64_t, captured_stream> streams;  // by number, see use_of()
  std::map<cudaEvent_t, captured_event> events;      // recorded in a captured stream last
  unsigned long long ids = 0;

  bool writes_to(const graph& g) const;
};
capture_set& captures_of(state& s);

// What this thread's calls do beside captures: a cudaStreamCaptureMode.
int& capture_mode_of_thread();

status begin_capture(state& s, cudaStream_t stream, int mode, graph* into,
                     std::vector<graph_edge> before);
status end_capture(state& s, cudaStream_t stream, cudaGraph_t* captured);

// As ../api/capturing.hpp has them, for what the driver API alone can ask for.
std::optional<status> capture_driver_work(state& s, driver_work work, cudaStream_t stream);

// The capture of a stream, valid or not: stream_capture_implicit for the legacy stream beside one
// of a blocking stream; null if there is none.
result<captured_stream*> capture_of(state& s, cudaStream_t stream);

}  // namespace stepwise::runtime
