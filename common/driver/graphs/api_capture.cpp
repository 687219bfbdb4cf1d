// Stream capture: wrappers of the runtime's functions (common/runtime/graphs/capture.hpp).
#include "common/driver/graphs/graph_parameters.hpp"

using namespace stepwise;
using namespace stepwise::driver;

namespace {

cudaStreamCaptureMode capture_mode(CUstreamCaptureMode mode) {
  return static_cast<cudaStreamCaptureMode>(runtime::number_of(mode));
}

}  // namespace

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return in_context([&](context&) { return cudaStreamBeginCapture(stream, capture_mode(mode)); });
}
STEPWISE_NAMED("cuStreamBeginCapture_v2_ptsz", begin_capture_per_thread, CUstream,
               CUstreamCaptureMode);
CUresult begin_capture_per_thread(CUstream stream, CUstreamCaptureMode mode) {
  return cuStreamBeginCapture(per_thread(stream), mode);
}
// The version of CUDA 10.0.
STEPWISE_NAMED("cuStreamBeginCapture", begin_capture_10, CUstream);
CUresult begin_capture_10(CUstream stream) {
  return cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
STEPWISE_NAMED("cuStreamBeginCapture_ptsz", begin_capture_10_per_thread, CUstream);
CUresult begin_capture_10_per_thread(CUstream stream) {
  return begin_capture_10(per_thread(stream));
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* nodes,
                                     const CUgraphEdgeData* data, size_t count,
                                     CUstreamCaptureMode mode) {
  return in_context([&](context&) {
    return cudaStreamBeginCaptureToGraph(
        stream, graph, nodes, same_as<const cudaGraphEdgeData>(data), count, capture_mode(mode));
  });
}
STEPWISE_NAMED("cuStreamBeginCaptureToGraph_ptsz", begin_capture_into_per_thread, CUstream, CUgraph,
               const CUgraphNode*, const CUgraphEdgeData*, size_t, CUstreamCaptureMode);
CUresult begin_capture_into_per_thread(CUstream stream, CUgraph graph, const CUgraphNode* nodes,
                                       const CUgraphEdgeData* data, size_t count,
                                       CUstreamCaptureMode mode) {
  return cuStreamBeginCaptureToGraph(per_thread(stream), graph, nodes, data, count, mode);
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return in_context([&](context&) { return cudaStreamEndCapture(stream, graph); });
}
STEPWISE_NAMED("cuStreamEndCapture_ptsz", end_capture_per_thread, CUstream, CUgraph*);
CUresult end_capture_per_thread(CUstream stream, CUgraph* graph) {
  return cuStreamEndCapture(per_thread(stream), graph);
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* capture) {
  return in_context([&](context&) {
    return cudaStreamIsCapturing(stream, same_as<cudaStreamCaptureStatus>(capture));
  });
}
STEPWISE_NAMED("cuStreamIsCapturing_ptsz", is_capturing_per_thread, CUstream,
               CUstreamCaptureStatus*);
CUresult is_capturing_per_thread(CUstream stream, CUstreamCaptureStatus* capture) {
  return cuStreamIsCapturing(per_thread(stream), capture);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return answer(
      [&] { return cudaThreadExchangeStreamCaptureMode(same_as<cudaStreamCaptureMode>(mode)); });
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* capture, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** nodes,
                                   const CUgraphEdgeData** data, size_t* count) {
  return in_context([&](context&) {
    return cudaStreamGetCaptureInfo(stream, same_as<cudaStreamCaptureStatus>(capture),
                                    same_as<unsigned long long>(id), graph, nodes,
                                    same_as<const cudaGraphEdgeData*>(data), count);
  });
}
STEPWISE_NAMED("cuStreamGetCaptureInfo_v3_ptsz", capture_info_per_thread, CUstream,
               CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**,
               const CUgraphEdgeData**, size_t*);
CUresult capture_info_per_thread(CUstream stream, CUstreamCaptureStatus* capture, cuuint64_t* id,
                                 CUgraph* graph, const CUgraphNode** nodes,
                                 const CUgraphEdgeData** data, size_t* count) {
  return cuStreamGetCaptureInfo(per_thread(stream), capture, id, graph, nodes, data, count);
}
// The version of CUDA 11.3.
STEPWISE_NAMED("cuStreamGetCaptureInfo_v2", capture_info_11, CUstream, CUstreamCaptureStatus*,
               cuuint64_t*, CUgraph*, const CUgraphNode**, size_t*);
CUresult capture_info_11(CUstream stream, CUstreamCaptureStatus* capture, cuuint64_t* id,
                         CUgraph* graph, const CUgraphNode** nodes, size_t* count) {
  return cuStreamGetCaptureInfo(stream, capture, id, graph, nodes, nullptr, count);
}
STEPWISE_NAMED("cuStreamGetCaptureInfo_v2_ptsz", capture_info_11_per_thread, CUstream,
               CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**, size_t*);
CUresult capture_info_11_per_thread(CUstream stream, CUstreamCaptureStatus* capture, cuuint64_t* id,
                                    CUgraph* graph, const CUgraphNode** nodes, size_t* count) {
  return capture_info_11(per_thread(stream), capture, id, graph, nodes, count);
}
// The version of CUDA 10.1.
STEPWISE_NAMED("cuStreamGetCaptureInfo", capture_info_10, CUstream, CUstreamCaptureStatus*,
               cuuint64_t*);
CUresult capture_info_10(CUstream stream, CUstreamCaptureStatus* capture, cuuint64_t* id) {
  return capture_info_11(stream, capture, id, nullptr, nullptr, nullptr);
}
STEPWISE_NAMED("cuStreamGetCaptureInfo_ptsz", capture_info_10_per_thread, CUstream,
               CUstreamCaptureStatus*, cuuint64_t*);
CUresult capture_info_10_per_thread(CUstream stream, CUstreamCaptureStatus* capture,
                                    cuuint64_t* id) {
  return capture_info_10(per_thread(stream), capture, id);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* nodes,
                                              const CUgraphEdgeData* data, size_t count,
                                              unsigned flags) {
  return in_context([&](context&) {
    return cudaStreamUpdateCaptureDependencies(
        stream, nodes, same_as<const cudaGraphEdgeData>(data), count, flags);
  });
}
STEPWISE_NAMED("cuStreamUpdateCaptureDependencies_v2_ptsz", update_capture_per_thread, CUstream,
               CUgraphNode*, const CUgraphEdgeData*, size_t, unsigned);
CUresult update_capture_per_thread(CUstream stream, CUgraphNode* nodes, const CUgraphEdgeData* data,
                                   size_t count, unsigned flags) {
  return cuStreamUpdateCaptureDependencies(per_thread(stream), nodes, data, count, flags);
}
// The version of CUDA 11.3.
STEPWISE_NAMED("cuStreamUpdateCaptureDependencies", update_capture_11, CUstream, CUgraphNode*,
               size_t, unsigned);
CUresult update_capture_11(CUstream stream, CUgraphNode* nodes, size_t count, unsigned flags) {
  return cuStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags);
}
STEPWISE_NAMED("cuStreamUpdateCaptureDependencies_ptsz", update_capture_11_per_thread, CUstream,
               CUgraphNode*, size_t, unsigned);
CUresult update_capture_11_per_thread(CUstream stream, CUgraphNode* nodes, size_t count,
                                      unsigned flags) {
  return update_capture_11(per_thread(stream), nodes, count, flags);
}
