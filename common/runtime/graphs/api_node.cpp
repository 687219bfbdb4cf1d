// Calls that add nodes to graphs, or query or change the work of nodes.
#include <cstring>

#include "common/runtime/graphs/calls.hpp"
#include "common/runtime/graphs/node_work.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

// The graph to which a call adds a node, and the nodes on which the node depends.
struct new_node {
  cudaGraphNode_t* made;
  cudaGraph_t to;
  const cudaGraphNode_t* before;
  std::size_t count;
  const cudaGraphEdgeData* data = nullptr;
};

// Adds a node with the work from `make(state&, graph&, edges) -> result<node_work>`.
template <class Make>
cudaError_t add_call(const new_node& where, Make&& make,
                     std::source_location at = std::source_location::current()) {
  return with_graph(
      where.to,
      [&](state& s, graph& g) -> status {
        if (!where.made) return invalid_value("a graph: the pointer for the node is null");
        const auto before = edges_to(s, g, where.before, where.data, where.count);
        if (!before.ok()) return before.failure();
        result<node_work> work = make(s, g, *before);
        if (!work.ok()) return work.failure();
        *where.made = handle_of(add_node(s, g, std::move(*work), *before));
        return {};
      },
      at);
}

status wrong_type() { return invalid_value("the graph node has another type"); }

// Runs `body(state&, Work&)` for a node whose work has this type.
template <class Work, class Body>
cudaError_t with_work(cudaGraphNode_t handle, const void* parameters, Body&& body,
                      std::source_location at = std::source_location::current()) {
  return with_node(
      handle,
      [&](state& s, graph_node& node) -> status {
        if (!parameters) return invalid_value("a node of a graph: no parameters");
        auto* const work = std::get_if<Work>(&node.work);
        return work ? body(s, *work) : wrong_type();
      },
      at);
}

// Replaces work with new work of the same type.
template <class Work>
status set_work(Work& to, result<node_work> made) {
  if (!made.ok()) return made.failure();
  to = std::move(std::get<Work>(*made));
  return {};
}

// Replaces the work of a node in an executable graph.
template <class Work, class Make>
cudaError_t set_copy(cudaGraphExec_t executable, cudaGraphNode_t handle, const void* parameters,
                     Make&& make, std::source_location at = std::source_location::current()) {
  return with_copy(
      executable, handle,
      [&](state& s, const graph_node&, graph_node& node) -> status {
        if (!parameters) return invalid_value("a node of a graph: no parameters");
        if (!std::holds_alternative<Work>(node.work)) return wrong_type();
        result<node_work> work = make(s);
        return work.ok() ? replace_work(s, node, std::move(*work)) : work.failure();
      },
      at);
}

result<node_work> linear(state& s, void* to, const void* from, std::size_t bytes, int kind) {
  if (bytes == 0) return invalid_value("a copy node: an empty copy");
  return copy_of(s, linear_copy(to, from, bytes, kind));
}

// A copy to a variable (`to` is null) or from a variable.
result<node_work> of_symbol(state& s, void* to, const void* from, const void* symbol,
                            std::size_t bytes, std::size_t offset, int kind) {
  const auto variable = s.registered.use_variable(*s.current, symbol);
  if (!variable.ok()) return variable.failure();
  if (offset > variable->bytes || bytes > variable->bytes - offset)
    return invalid_value("a copy node: bytes beyond the variable");
  const int opposite = to ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  if (kind == opposite || kind == cudaMemcpyHostToHost) {
    return {error::invalid_memcpy_direction,
            "a copy node: the kind does not fit a variable, which is on the device"};
  }
  void* const place = pointer_of(variable->address + offset);
  return to ? linear(s, to, place, bytes, kind) : linear(s, place, from, bytes, kind);
}

bool is_kernel_attribute(int attribute) {
  switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeCooperative:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case cudaLaunchAttributeClusterDimension:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      return true;
    default:
      return false;
  }
}

static_assert(sizeof(cudaLaunchAttributeValue) <= sizeof(stream_attribute));

}  // namespace

cudaError_t cudaGraphAddNode(cudaGraphNode_t* made, cudaGraph_t to, const cudaGraphNode_t* before,
                             const cudaGraphEdgeData* data, std::size_t count,
                             cudaGraphNodeParams* p) {
  return add_call({made, to, before, count, data},
                  [&](state& s, graph& g, const auto& edges) -> result<node_work> {
                    if (!p) return invalid_value("cudaGraphAddNode: no parameters");
                    return work_of(s, g, edges, *p);
                  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* made, cudaGraph_t to,
                                   const cudaGraphNode_t* before, std::size_t count,
                                   const cudaKernelNodeParams* p) {
  return add_call({made, to, before, count},
                  [&](state& s, graph&, const auto&) -> result<node_work> {
                    if (!p) return invalid_value("cudaGraphAddKernelNode: no parameters");
                    return kernel_of(s, *p);
                  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* made, cudaGraph_t to,
                                   const cudaGraphNode_t* before, std::size_t count,
                                   const cudaMemcpy3DParms* p) {
  return add_call({made, to, before, count},
                  [&](state& s, graph&, const auto&) -> result<node_work> {
                    if (!p) return invalid_value("cudaGraphAddMemcpyNode: no parameters");
                    return copy_of(s, *p);
                  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* made, cudaGraph_t to,
                                     const cudaGraphNode_t* before, std::size_t count, void* target,
                                     const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return add_call({made, to, before, count}, [&](state& s, graph&, const auto&) {
    return linear(s, target, from, bytes, number_of(kind));
  });
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* made, cudaGraph_t to,
                                           const cudaGraphNode_t* before, std::size_t count,
                                           const void* symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
  return add_call({made, to, before, count}, [&](state& s, graph&, const auto&) {
    return of_symbol(s, nullptr, from, symbol, bytes, offset, number_of(kind));
  });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* made, cudaGraph_t to,
                                             const cudaGraphNode_t* before, std::size_t count,
                                             void* target, const void* symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind) {
  return add_call({made, to, before, count},
                  [&](state& s, graph&, const auto&) -> result<node_work> {
                    if (!target) return invalid_value("a copy node: to a null pointer");
                    return of_symbol(s, target, nullptr, symbol, bytes, offset, number_of(kind));
                  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* made, cudaGraph_t to,
                                   const cudaGraphNode_t* before, std::size_t count,
                                   const cudaMemsetParams* p) {
  return add_call({made, to, before, count}, [&](state&, graph&, const auto&) -> result<node_work> {
    if (!p) return invalid_value("cudaGraphAddMemsetNode: no parameters");
    return fill_of(*p);
  });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* made, cudaGraph_t to,
                                 const cudaGraphNode_t* before, std::size_t count,
                                 const cudaHostNodeParams* p) {
  return add_call({made, to, before, count}, [&](state&, graph&, const auto&) -> result<node_work> {
    if (!p) return invalid_value("cudaGraphAddHostNode: no parameters");
    return host_of(*p);
  });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* made, cudaGraph_t to,
                                       const cudaGraphNode_t* before, std::size_t count,
                                       cudaGraph_t child) {
  return add_call({made, to, before, count}, [&](state& s, graph& g, const auto&) {
    return child_of(s, g, find_graph(s, child), false);
  });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* made, cudaGraph_t to,
                                  const cudaGraphNode_t* before, std::size_t count) {
  return add_call({made, to, before, count}, [&](state&, graph&, const auto&) {
    return result<node_work>(node_work(empty_work{}));
  });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* made, cudaGraph_t to,
                                        const cudaGraphNode_t* before, std::size_t count,
                                        cudaEvent_t event) {
  return add_call({made, to, before, count},
                  [&](state& s, graph&, const auto&) { return record_of_event(s, event); });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* made, cudaGraph_t to,
                                      const cudaGraphNode_t* before, std::size_t count,
                                      cudaEvent_t event) {
  return add_call({made, to, before, count},
                  [&](state& s, graph&, const auto&) { return wait_of_event(s, event); });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* made, cudaGraph_t to,
                                     const cudaGraphNode_t* before, std::size_t count,
                                     cudaMemAllocNodeParams* p) {
  return add_call({made, to, before, count},
                  [&](state& s, graph& g, const auto& edges) -> result<node_work> {
                    if (!p) return invalid_value("cudaGraphAddMemAllocNode: no parameters");
                    auto work = allocation_of(s, g, edges, *p);
                    if (work.ok()) p->dptr = std::get<allocation_work>(*work).asked.dptr;
                    return work;
                  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* made, cudaGraph_t to,
                                    const cudaGraphNode_t* before, std::size_t count,
                                    void* address) {
  return add_call({made, to, before, count},
                  [&](state& s, graph& g, const auto&) { return release_of(s, g, address); });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t handle, cudaGraphNodeParams* p) {
  return with_node(handle, [&](state& s, graph_node& node) -> status {
    if (!p) return invalid_value("cudaGraphNodeSetParams: no parameters");
    auto work = new_work_of(s, node, *p);
    if (!work.ok()) return work.failure();
    if (auto* const kernel = std::get_if<kernel_work>(&node.work))
      std::get<kernel_work>(*work).attributes = kernel->attributes;
    if (auto* const child = std::get_if<child_work>(&node.work)) {
      forget_graph(s, *child->body);
      std::get<child_work>(*work).body->parent = &node;
    }
    node.work = std::move(*work);
    return {};
  });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* p) {
  return with_work<kernel_work>(node, p, [&](state&, kernel_work& work) {
    *p = parameters_of(work);
    return status{};
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return with_work<kernel_work>(node, p, [&](state& s, kernel_work& work) {
    auto made = kernel_of(s, *p);
    if (made.ok()) std::get<kernel_work>(*made).attributes = work.attributes;
    return set_work(work, std::move(made));
  });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return with_work<kernel_work>(to, to, [&](state& s, kernel_work& work) {
    const graph_node* const node = find_node(s, from);
    const auto* const other = node ? std::get_if<kernel_work>(&node->work) : nullptr;
    if (!other) return wrong_type();
    work.attributes = other->attributes;
    return status{};
  });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            cudaLaunchAttributeValue* value) {
  return with_work<kernel_work>(node, value, [&](state&, kernel_work& work) {
    const int number = number_of(attribute);
    if (!is_kernel_attribute(number)) return invalid_value("kernel nodes have no such attribute");
    std::memset(static_cast<void*>(value), 0, sizeof *value);
    const auto set = work.attributes.find(number);
    if (set != work.attributes.end())
      std::memcpy(static_cast<void*>(value), set->second.data(), sizeof *value);
    return status{};
  });
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            const cudaLaunchAttributeValue* value) {
  return with_work<kernel_work>(node, value, [&](state&, kernel_work& work) -> status {
    const int number = number_of(attribute);
    if (!is_kernel_attribute(number)) return invalid_value("kernel nodes have no such attribute");
    std::memcpy(work.attributes[number].data(), value, sizeof *value);
    return {};
  });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* p) {
  return with_work<copy_work>(node, p, [&](state&, copy_work& work) {
    *p = work.asked;
    return status{};
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return with_work<copy_work>(
      node, p, [&](state& s, copy_work& work) { return set_work(work, copy_of(s, *p)); });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  return with_work<copy_work>(node, node, [&](state& s, copy_work& work) {
    return set_work(work, linear(s, to, from, bytes, number_of(kind)));
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* from, std::size_t bytes,
                                                 std::size_t offset, cudaMemcpyKind kind) {
  return with_work<copy_work>(node, node, [&](state& s, copy_work& work) {
    return set_work(work, of_symbol(s, nullptr, from, symbol, bytes, offset, number_of(kind)));
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                   const void* symbol, std::size_t bytes,
                                                   std::size_t offset, cudaMemcpyKind kind) {
  return with_work<copy_work>(node, to, [&](state& s, copy_work& work) {
    return set_work(work, of_symbol(s, to, nullptr, symbol, bytes, offset, number_of(kind)));
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* p) {
  return with_work<fill_work>(node, p, [&](state&, fill_work& work) {
    *p = work.asked;
    return status{};
  });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return with_work<fill_work>(node, p,
                              [&](state&, fill_work& work) { return set_work(work, fill_of(*p)); });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* p) {
  return with_work<host_work>(node, p, [&](state&, host_work& work) {
    *p = {work.function, work.data};
    return status{};
  });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return with_work<host_work>(node, p,
                              [&](state&, host_work& work) { return set_work(work, host_of(*p)); });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* child) {
  return with_work<child_work>(node, child, [&](state&, child_work& work) {
    *child = handle_of(work.body.get());
    return status{};
  });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return with_work<record_work>(node, event, [&](state&, record_work& work) {
    *event = work.event;
    return status{};
  });
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return with_work<record_work>(node, node, [&](state& s, record_work& work) {
    return set_work(work, record_of_event(s, event));
  });
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return with_work<wait_work>(node, event, [&](state&, wait_work& work) {
    *event = work.event;
    return status{};
  });
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return with_work<wait_work>(node, node, [&](state& s, wait_work& work) {
    return set_work(work, wait_of_event(s, event));
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* p) {
  return with_work<allocation_work>(node, p, [&](state&, allocation_work& work) {
    *p = work.asked;
    p->accessDescs = work.access.empty() ? nullptr : work.access.data();
    return status{};
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* address) {
  return with_work<release_work>(node, address, [&](state&, release_work& work) {
    std::memcpy(address, &work.address, sizeof work.address);
    return status{};
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* p) {
  return set_copy<kernel_work>(executable, node, p, [&](state& s) { return kernel_of(s, *p); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* p) {
  return set_copy<copy_work>(executable, node, p, [&](state& s) { return copy_of(s, *p); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               void* to, const void* from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
  return set_copy<copy_work>(executable, node, node,
                             [&](state& s) { return linear(s, to, from, bytes, number_of(kind)); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable,
                                                     cudaGraphNode_t node, const void* symbol,
                                                     const void* from, std::size_t bytes,
                                                     std::size_t offset, cudaMemcpyKind kind) {
  return set_copy<copy_work>(executable, node, node, [&](state& s) {
    return of_symbol(s, nullptr, from, symbol, bytes, offset, number_of(kind));
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable,
                                                       cudaGraphNode_t node, void* to,
                                                       const void* symbol, std::size_t bytes,
                                                       std::size_t offset, cudaMemcpyKind kind) {
  return set_copy<copy_work>(executable, node, to, [&](state& s) {
    return of_symbol(s, to, nullptr, symbol, bytes, offset, number_of(kind));
  });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* p) {
  return set_copy<fill_work>(executable, node, p, [&](state&) { return fill_of(*p); });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* p) {
  return set_copy<host_work>(executable, node, p, [&](state&) { return host_of(*p); });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return set_copy<record_work>(executable, node, node,
                               [&](state& s) { return record_of_event(s, event); });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return set_copy<wait_work>(executable, node, node,
                             [&](state& s) { return wait_of_event(s, event); });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return with_copy(executable, node, [&](state& s, const graph_node&, graph_node& copied) {
    const graph* const g = find_graph(s, child);
    return g ? replace_child(s, copied, *g) : invalid_value("there is no such graph");
  });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                       cudaGraphNodeParams* p) {
  return with_copy(
      executable, node, [&](state& s, const graph_node& original, graph_node& copied) -> status {
        if (!p) return invalid_value("cudaGraphExecNodeSetParams: no parameters");
        if (number_of(p->type) == cudaGraphNodeTypeGraph) {
          const graph* const g = find_graph(s, p->graph.graph);
          return g ? replace_child(s, copied, *g) : invalid_value("there is no such graph");
        }
        auto work = new_work_of(s, original, *p);
        return work.ok() ? replace_work(s, copied, std::move(*work)) : work.failure();
      });
}
