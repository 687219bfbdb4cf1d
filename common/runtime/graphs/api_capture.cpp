// Calls that capture streams or query captures.
#include <cstring>

#include "common/runtime/graphs/capture.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

bool has_data(const cudaGraphEdgeData& data) {
  const cudaGraphEdgeData none = {};
  return std::memcmp(&data, &none, sizeof data) != 0;
}

}  // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return with_stream(stream, [&](state& s, const stream_record&) {
    status here = has_graphs(s, "cudaStreamBeginCapture");
    return here.ok() ? begin_capture(s, stream, number_of(mode), nullptr, {}) : here;
  });
}
STEPWISE_EXPORT cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream,
                                                        cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(per_thread(stream), mode);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t to,
                                          const cudaGraphNode_t* nodes,
                                          const cudaGraphEdgeData* data, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  return with_stream(stream, [&](state& s, const stream_record&) -> status {
    graph* const g = find_graph(s, to);
    if (!g) return invalid_value("cudaStreamBeginCaptureToGraph: there is no such graph");
    auto before = edges_to(s, *g, nodes, data, count);
    if (!before.ok()) return before.failure();
    return begin_capture(s, stream, number_of(mode), g, std::move(*before));
  });
}
STEPWISE_EXPORT cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t to,
                                                               const cudaGraphNode_t* nodes,
                                                               const cudaGraphEdgeData* data,
                                                               std::size_t count,
                                                               cudaStreamCaptureMode mode) {
  return cudaStreamBeginCaptureToGraph(per_thread(stream), to, nodes, data, count, mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* captured) {
  return with_stream(stream, [&](state& s, const stream_record&) {
    // A capture into an existing graph may pass no pointer for the result.
    cudaGraph_t unnamed = nullptr;
    if (!captured) captured = &unnamed;
    if (s.captures == 0) return status{error::illegal_state, "the stream is not captured"};
    return end_capture(s, stream, captured);
  });
}
STEPWISE_EXPORT cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* captured) {
  return cudaStreamEndCapture(per_thread(stream), captured);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* capture) {
  return with_stream(stream, [&](state& s, const stream_record&) {
    if (!capture) return invalid_value("cudaStreamIsCapturing: the output pointer is null");
    const auto found = capture_of(s, stream);
    if (!found.ok()) return found.failure();
    *capture = !*found                 ? cudaStreamCaptureStatusNone
               : (*found)->of->invalid ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
    return status{};
  });
}
STEPWISE_EXPORT cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream,
                                                       cudaStreamCaptureStatus* capture) {
  return cudaStreamIsCapturing(per_thread(stream), capture);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* capture,
                                     unsigned long long* id, cudaGraph_t* graph_out,
                                     const cudaGraphNode_t** nodes, const cudaGraphEdgeData** data,
                                     std::size_t* count) {
  return with_stream(stream, [&](state& s, const stream_record&) -> status {
    if (!capture || (data && !nodes))
      return invalid_value("cudaStreamGetCaptureInfo: an output pointer is null");
    const auto found = capture_of(s, stream);
    if (!found.ok()) return found.failure();
    *capture = cudaStreamCaptureStatusNone;
    if (!*found) return {};
    captured_stream& in = **found;
    *capture = in.of->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
    if (in.of->invalid) return {};
    in.nodes.clear();
    in.data.clear();
    for (const graph_edge& e : in.at) {
      in.nodes.push_back(handle_of(e.node));
      in.data.push_back(e.data);
      if (nodes && !data && has_data(e.data))
        return {error::lossy_query, "the edges have data, but the call does not request it"};
    }
    if (id) *id = in.of->id;
    if (graph_out) *graph_out = handle_of(in.of->target);
    if (nodes) *nodes = in.nodes.data();
    if (data) *data = in.data.data();
    if (count) *count = in.nodes.size();
    return {};
  });
}
STEPWISE_EXPORT cudaError_t cudaStreamGetCaptureInfo_ptsz(
    cudaStream_t stream, cudaStreamCaptureStatus* capture, unsigned long long* id,
    cudaGraph_t* graph_out, const cudaGraphNode_t** nodes, const cudaGraphEdgeData** data,
    std::size_t* count) {
  return cudaStreamGetCaptureInfo(per_thread(stream), capture, id, graph_out, nodes, data, count);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData* data, std::size_t count,
                                                unsigned flags) {
  return with_stream(stream, [&](state& s, const stream_record&) -> status {
    const auto found = capture_of(s, stream);
    if (!found.ok()) return found.failure();
    if (!*found) return {error::illegal_state, "the stream is not captured"};
    captured_stream& in = **found;
    if (in.of->invalid)
      return {error::stream_capture_invalidated, "an error made this stream's capture invalid"};
    if (flags > cudaStreamSetCaptureDependencies)
      return invalid_value("cudaStreamUpdateCaptureDependencies: unknown flags");
    auto given = edges_to(s, *in.of->target, nodes, data, count);
    if (!given.ok()) return given.failure();
    if (flags == cudaStreamSetCaptureDependencies) in.at.clear();
    for (const graph_edge& e : *given) {
      std::erase_if(in.at, [&](const graph_edge& k) { return k.node == e.node; });
      in.at.push_back(e);
    }
    return {};
  });
}
STEPWISE_EXPORT cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
                                                                     cudaGraphNode_t* nodes,
                                                                     const cudaGraphEdgeData* data,
                                                                     std::size_t count,
                                                                     unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(per_thread(stream), nodes, data, count, flags);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call([&](state&) {
    if (!mode) return invalid_value("cudaThreadExchangeStreamCaptureMode: no mode");
    // Any number is accepted, as on an H200.
    const int wanted = number_of(*mode);
    std::memcpy(mode, &capture_mode_of_thread(), sizeof wanted);
    capture_mode_of_thread() = wanted;
    return status{};
  });
}
