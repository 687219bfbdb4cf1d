// Instantiation, launch and update of executable graphs, and the memory of graphs.
#include <algorithm>
#include <cstring>

#include "common/driver/graphs/graph_parameters.hpp"

using namespace stepwise;
using namespace stepwise::driver;

CUresult cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph, unsigned long long flags) {
  return answer([&] { return cudaGraphInstantiateWithFlags(made, graph, flags); });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* made, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* p) {
  return answer([&] {
    return cudaGraphInstantiateWithParams(made, graph, same_as<cudaGraphInstantiateParams>(p));
  });
}
STEPWISE_ALSO("cuGraphInstantiateWithParams_ptsz", cuGraphInstantiateWithParams);

// The version of CUDA 10 and 11, which also returns the offending node and a message.
STEPWISE_NAMED("cuGraphInstantiate_v2", instantiate_11, CUgraphExec*, CUgraph, CUgraphNode*, char*,
               size_t);
CUresult instantiate_11(CUgraphExec* made, CUgraph graph, CUgraphNode* wrong, char* text,
                        size_t bytes) {
  return answer([&] {
    cudaGraphInstantiateParams p{};
    const cudaError_t outcome = cudaGraphInstantiateWithParams(made, graph, &p);
    if (wrong) *wrong = p.errNode_out;
    if (text && bytes > 0) {
      const std::string_view said = outcome == cudaSuccess ? "" : runtime::error_text(outcome);
      const std::size_t copied = std::min(said.size(), bytes - 1);
      std::memcpy(text, said.data(), copied);
      text[copied] = '\0';
    }
    return outcome;
  });
}
STEPWISE_ALSO_OF("cuGraphInstantiate", instantiate_11, "cuGraphInstantiate_v2");

CUresult cuGraphExecGetFlags(CUgraphExec executable, cuuint64_t* flags) {
  return answer(
      [&] { return cudaGraphExecGetFlags(executable, same_as<unsigned long long>(flags)); });
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return answer([&] { return cudaGraphExecDestroy(executable); });
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return in_context([&](context&) { return cudaGraphLaunch(executable, stream); });
}
STEPWISE_NAMED("cuGraphLaunch_ptsz", launch_graph_per_thread, CUgraphExec, CUstream);
CUresult launch_graph_per_thread(CUgraphExec executable, CUstream stream) {
  return cuGraphLaunch(executable, per_thread(stream));
}

CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
  return in_context([&](context&) { return cudaGraphUpload(executable, stream); });
}
STEPWISE_NAMED("cuGraphUpload_ptsz", upload_graph_per_thread, CUgraphExec, CUstream);
CUresult upload_graph_per_thread(CUgraphExec executable, CUstream stream) {
  return cuGraphUpload(executable, per_thread(stream));
}

CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph,
                              CUgraphExecUpdateResultInfo* info) {
  return answer([&] {
    return cudaGraphExecUpdate(executable, graph, same_as<cudaGraphExecUpdateResultInfo>(info));
  });
}
// The version of CUDA 10.2.
STEPWISE_NAMED("cuGraphExecUpdate", update_10, CUgraphExec, CUgraph, CUgraphNode*,
               CUgraphExecUpdateResult*);
CUresult update_10(CUgraphExec executable, CUgraph graph, CUgraphNode* wrong,
                   CUgraphExecUpdateResult* outcome) {
  return answer([&] {
    cudaGraphExecUpdateResultInfo info{};
    const cudaError_t code = cudaGraphExecUpdate(executable, graph, outcome ? &info : nullptr);
    if (outcome) std::memcpy(outcome, &info.result, sizeof *outcome);
    if (wrong) *wrong = info.errorNode;
    return code;
  });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned enabled) {
  return answer([&] { return cudaGraphNodeSetEnabled(executable, node, enabled); });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode node, unsigned* enabled) {
  return answer([&] { return cudaGraphNodeGetEnabled(executable, node, enabled); });
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return of_device(device, [&] { return cudaDeviceGraphMemTrim(device); });
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void* value) {
  return of_device(device, [&] {
    return cudaDeviceGetGraphMemAttribute(
        device, static_cast<cudaGraphMemAttributeType>(runtime::number_of(attribute)), value);
  });
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void* value) {
  return of_device(device, [&] {
    return cudaDeviceSetGraphMemAttribute(
        device, static_cast<cudaGraphMemAttributeType>(runtime::number_of(attribute)), value);
  });
}
