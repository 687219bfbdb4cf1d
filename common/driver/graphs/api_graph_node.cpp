// Graph nodes: calls that add nodes, and that query or change their parameters.
#include "common/driver/graphs/graph_values.hpp"

using namespace stepwise;
using namespace stepwise::driver;

namespace {

static_assert(sizeof(CUlaunchAttributeValue) == sizeof(cudaLaunchAttributeValue));
static_assert(offsetof(CUDA_MEMSET_NODE_PARAMS, height) == offsetof(cudaMemsetParams, height));
static_assert(offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, dptr) == offsetof(cudaMemAllocNodeParams, dptr));

const cudaMemsetParams* fill_parameters(const CUDA_MEMSET_NODE_PARAMS* p) {
  return same_as<const cudaMemsetParams>(p);
}
const cudaHostNodeParams* host_parameters(const CUDA_HOST_NODE_PARAMS* p) {
  return same_as<const cudaHostNodeParams>(p);
}

// Version 2 of these parameters begins with version 1.
const CUDA_KERNEL_NODE_PARAMS_v1* beginning(const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  return reinterpret_cast<const CUDA_KERNEL_NODE_PARAMS_v1*>(p);
}

// Runs `body(const cudaKernelNodeParams*) -> cudaError_t` for either version.
template <class Body>
CUresult with_kernel_parameters(const CUDA_KERNEL_NODE_PARAMS_v1* p, CUkernel kernel,
                                CUcontext asked, Body&& body, std::source_location at) {
  return answer(
      [&] {
        if (!p) return result_of(body(nullptr));
        const CUresult there = p->func ? CUDA_SUCCESS : check_context(asked);
        if (there != CUDA_SUCCESS) return there;
        const cudaKernelNodeParams same = kernel_parameters(*p, kernel);
        return result_of(body(&same));
      },
      at);
}
template <class Body>
CUresult for_kernel(const CUDA_KERNEL_NODE_PARAMS_v2* p, Body&& body,
                    std::source_location at = std::source_location::current()) {
  return with_kernel_parameters(beginning(p), p ? p->kern : nullptr, p ? p->ctx : nullptr, body,
                                at);
}
template <class Body>
CUresult for_kernel(const CUDA_KERNEL_NODE_PARAMS_v1* p, Body&& body,
                    std::source_location at = std::source_location::current()) {
  return with_kernel_parameters(p, nullptr, nullptr, body, at);
}

CUresult get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* p) {
  cudaKernelNodeParams found;
  const cudaError_t known = cudaGraphKernelNodeGetParams(node, p ? &found : nullptr);
  return known == cudaSuccess ? kernel_parameters(found, *p) : result_of(known);
}

// Runs `body(const cudaMemcpy3DParms*) -> cudaError_t` for a copy.
template <class Body>
CUresult for_copy(const CUDA_MEMCPY3D* p, Body&& body,
                  std::source_location at = std::source_location::current()) {
  return answer(
      [&] {
        if (!p) return result_of(body(nullptr));
        cudaMemcpy3DParms same;
        const CUresult sound = copy_parameters(*p, same);
        return sound == CUDA_SUCCESS ? result_of(body(&same)) : sound;
      },
      at);
}

// Calls `body() -> cudaError_t` if a node may belong to this context.
template <class Body>
CUresult in_named_context(CUcontext asked, Body&& body,
                          std::source_location at = std::source_location::current()) {
  return answer(
      [&] {
        const CUresult there = check_context(asked);
        return there == CUDA_SUCCESS ? result_of(body()) : there;
      },
      at);
}

// Runs `body(cudaGraphNodeParams*)` for a node of any type, and copies the output parameters back.
template <class Body>
CUresult for_node(CUgraphNodeParams* p, Body&& body,
                  std::source_location at = std::source_location::current()) {
  return answer(
      [&] {
        if (!p) return result_of(body(nullptr));
        cudaGraphNodeParams same = {};
        const CUresult sound = node_parameters(*p, same);
        if (sound != CUDA_SUCCESS) return sound;
        const cudaError_t outcome = body(&same);
        if (outcome == cudaSuccess) take_answers(same, *p);
        return result_of(outcome);
      },
      at);
}

}  // namespace

CUresult cuGraphAddNode_v2(CUgraphNode* made, CUgraph to, const CUgraphNode* before,
                           const CUgraphEdgeData* data, size_t count, CUgraphNodeParams* p) {
  if (const auto* values = value_parameters(p))
    return add_value_node(made, to, before, data, count, values);
  return for_node(p, [&](cudaGraphNodeParams* same) {
    return cudaGraphAddNode(made, to, before, same_as<const cudaGraphEdgeData>(data), count, same);
  });
}
STEPWISE_NAMED("cuGraphAddNode", add_node_12, CUgraphNode*, CUgraph, const CUgraphNode*, size_t,
               CUgraphNodeParams*);
CUresult add_node_12(CUgraphNode* made, CUgraph to, const CUgraphNode* before, size_t count,
                     CUgraphNodeParams* p) {
  return cuGraphAddNode(made, to, before, nullptr, count, p);
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  if (const auto* values = value_parameters(p)) return set_value_node(node, values);
  return for_node(p, [&](cudaGraphNodeParams* same) { return cudaGraphNodeSetParams(node, same); });
}

CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraphNodeParams* p) {
  if (const auto* values = value_parameters(p))
    return set_executable_value_node(executable, node, values);
  return for_node(p, [&](cudaGraphNodeParams* same) {
    return cudaGraphExecNodeSetParams(executable, node, same);
  });
}

// Kernels. The functions without a version in their name take version 1 of the parameters.
CUresult cuGraphAddKernelNode_v2(CUgraphNode* made, CUgraph to, const CUgraphNode* before,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS* p) {
  return for_kernel(p, [&](const cudaKernelNodeParams* same) {
    return cudaGraphAddKernelNode(made, to, before, count, same);
  });
}
STEPWISE_NAMED("cuGraphAddKernelNode", add_kernel_node_10, CUgraphNode*, CUgraph,
               const CUgraphNode*, size_t, const CUDA_KERNEL_NODE_PARAMS_v1*);
CUresult add_kernel_node_10(CUgraphNode* made, CUgraph to, const CUgraphNode* before, size_t count,
                            const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return for_kernel(p, [&](const cudaKernelNodeParams* same) {
    return cudaGraphAddKernelNode(made, to, before, count, same);
  });
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* p) {
  return answer([&] {
    const CUresult outcome = get_kernel(node, reinterpret_cast<CUDA_KERNEL_NODE_PARAMS_v1*>(p));
    if (outcome != CUDA_SUCCESS) return outcome;
    p->kern = nullptr;
    p->ctx = handle_of(contexts::get().current());
    return outcome;
  });
}
STEPWISE_NAMED("cuGraphKernelNodeGetParams", kernel_node_get_10, CUgraphNode,
               CUDA_KERNEL_NODE_PARAMS_v1*);
CUresult kernel_node_get_10(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return answer([&] { return get_kernel(node, p); });
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p) {
  return for_kernel(
      p, [&](const cudaKernelNodeParams* s) { return cudaGraphKernelNodeSetParams(node, s); });
}
STEPWISE_NAMED("cuGraphKernelNodeSetParams", kernel_node_set_10, CUgraphNode,
               const CUDA_KERNEL_NODE_PARAMS_v1*);
CUresult kernel_node_set_10(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return for_kernel(
      p, [&](const cudaKernelNodeParams* s) { return cudaGraphKernelNodeSetParams(node, s); });
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* p) {
  return for_kernel(p, [&](const cudaKernelNodeParams* same) {
    return cudaGraphExecKernelNodeSetParams(executable, node, same);
  });
}
STEPWISE_NAMED("cuGraphExecKernelNodeSetParams", exec_kernel_node_set_10, CUgraphExec, CUgraphNode,
               const CUDA_KERNEL_NODE_PARAMS_v1*);
CUresult exec_kernel_node_set_10(CUgraphExec executable, CUgraphNode node,
                                 const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return for_kernel(p, [&](const cudaKernelNodeParams* same) {
    return cudaGraphExecKernelNodeSetParams(executable, node, same);
  });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return answer([&] { return cudaGraphKernelNodeCopyAttributes(to, from); });
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       CUkernelNodeAttrValue* value) {
  return answer([&] {
    return cudaGraphKernelNodeGetAttribute(
        node, static_cast<cudaLaunchAttributeID>(runtime::number_of(attribute)),
        same_as<cudaLaunchAttributeValue>(value));
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       const CUkernelNodeAttrValue* value) {
  return answer([&] {
    return cudaGraphKernelNodeSetAttribute(
        node, static_cast<cudaLaunchAttributeID>(runtime::number_of(attribute)),
        same_as<const cudaLaunchAttributeValue>(value));
  });
}

// Copies and fills.
CUresult cuGraphAddMemcpyNode(CUgraphNode* made, CUgraph to, const CUgraphNode* before,
                              size_t count, const CUDA_MEMCPY3D* p, CUcontext asked) {
  return in_named_context(asked, [&] {
    return for_copy(p, [&](const cudaMemcpy3DParms* same) {
      return cudaGraphAddMemcpyNode(made, to, before, count, same);
    });
  });
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* p) {
  return answer([&] {
    cudaMemcpy3DParms found;
    const cudaError_t known = cudaGraphMemcpyNodeGetParams(node, p ? &found : nullptr);
    return known == cudaSuccess ? copy_parameters(found, *p) : result_of(known);
  });
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* p) {
  return for_copy(
      p, [&](const cudaMemcpy3DParms* same) { return cudaGraphMemcpyNodeSetParams(node, same); });
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMCPY3D* p, CUcontext asked) {
  return in_named_context(asked, [&] {
    return for_copy(p, [&](const cudaMemcpy3DParms* same) {
      return cudaGraphExecMemcpyNodeSetParams(executable, node, same);
    });
  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* made, CUgraph to, const CUgraphNode* before,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* p, CUcontext asked) {
  return in_named_context(
      asked, [&] { return cudaGraphAddMemsetNode(made, to, before, count, fill_parameters(p)); });
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* p) {
  return answer([&] { return cudaGraphMemsetNodeGetParams(node, same_as<cudaMemsetParams>(p)); });
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p) {
  return answer([&] { return cudaGraphMemsetNodeSetParams(node, fill_parameters(p)); });
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* p, CUcontext asked) {
  return in_named_context(asked, [&] {
    return cudaGraphExecMemsetNodeSetParams(executable, node, fill_parameters(p));
  });
}

// Host functions, child graphs, and empty nodes.
CUresult cuGraphAddHostNode(CUgraphNode* made, CUgraph to, const CUgraphNode* before, size_t count,
                            const CUDA_HOST_NODE_PARAMS* p) {
  return answer([&] { return cudaGraphAddHostNode(made, to, before, count, host_parameters(p)); });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* p) {
  return answer([&] { return cudaGraphHostNodeGetParams(node, same_as<cudaHostNodeParams>(p)); });
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p) {
  return answer([&] { return cudaGraphHostNodeSetParams(node, host_parameters(p)); });
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* p) {
  return answer(
      [&] { return cudaGraphExecHostNodeSetParams(executable, node, host_parameters(p)); });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* made, CUgraph to, const CUgraphNode* before,
                                  size_t count, CUgraph child) {
  return answer([&] { return cudaGraphAddChildGraphNode(made, to, before, count, child); });
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* child) {
  return answer([&] { return cudaGraphChildGraphNodeGetGraph(node, child); });
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                            CUgraph child) {
  return answer([&] { return cudaGraphExecChildGraphNodeSetParams(executable, node, child); });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* made, CUgraph to, const CUgraphNode* before,
                             size_t count) {
  return answer([&] { return cudaGraphAddEmptyNode(made, to, before, count); });
}

// Events.
CUresult cuGraphAddEventRecordNode(CUgraphNode* made, CUgraph to, const CUgraphNode* before,
                                   size_t count, CUevent event) {
  return answer([&] { return cudaGraphAddEventRecordNode(made, to, before, count, event); });
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return answer([&] { return cudaGraphEventRecordNodeGetEvent(node, event); });
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return answer([&] { return cudaGraphEventRecordNodeSetEvent(node, event); });
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node,
                                            CUevent event) {
  return answer([&] { return cudaGraphExecEventRecordNodeSetEvent(executable, node, event); });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* made, CUgraph to, const CUgraphNode* before,
                                 size_t count, CUevent event) {
  return answer([&] { return cudaGraphAddEventWaitNode(made, to, before, count, event); });
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return answer([&] { return cudaGraphEventWaitNodeGetEvent(node, event); });
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return answer([&] { return cudaGraphEventWaitNodeSetEvent(node, event); });
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  return answer([&] { return cudaGraphExecEventWaitNodeSetEvent(executable, node, event); });
}

// Memory nodes.
CUresult cuGraphAddMemAllocNode(CUgraphNode* made, CUgraph to, const CUgraphNode* before,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  return answer([&] {
    return cudaGraphAddMemAllocNode(made, to, before, count, same_as<cudaMemAllocNodeParams>(p));
  });
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  return answer(
      [&] { return cudaGraphMemAllocNodeGetParams(node, same_as<cudaMemAllocNodeParams>(p)); });
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* made, CUgraph to, const CUgraphNode* before,
                               size_t count, CUdeviceptr address) {
  return answer(
      [&] { return cudaGraphAddMemFreeNode(made, to, before, count, pointer_of(address)); });
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* address) {
  return answer([&] { return cudaGraphMemFreeNodeGetParams(node, address); });
}
