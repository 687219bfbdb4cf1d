// Converts the program's description of a node into the node's work. Everything that can be
// rejected before a launch is rejected here.
//
// tests   ../tests/graph_test.cpp
#pragma once

#include "common/runtime/api/launch.hpp"
#include "common/runtime/graphs/graph.hpp"

namespace stepwise::runtime {

result<node_work> kernel_of(state& s, const launch_request& request, void** extra = nullptr);
result<node_work> kernel_of(state& s, const cudaKernelNodeParams& p);
result<node_work> copy_of(state& s, const cudaMemcpy3DParms& p);
// The node for a copy_request.
result<node_work> copy_of(state& s, const copy_request& request);
result<node_work> fill_of(const cudaMemsetParams& p);
result<node_work> host_of(const cudaHostNodeParams& p);
result<node_work> record_of_event(state& s, cudaEvent_t event);
result<node_work> wait_of_event(state& s, cudaEvent_t event);
// Allocates; the address is in asked.dptr.
result<node_work> allocation_of(state& s, graph& g, const std::vector<graph_edge>& before,
                                const cudaMemAllocNodeParams& p);
result<node_work> release_of(state& s, graph& g, void* address);
// `move`: the node takes ownership of the graph.
result<node_work> child_of(state& s, graph& g, graph* child, bool move);
result<node_work> conditional_of(state& s, graph& g, cudaConditionalNodeParams& p);

// Work of any type that cudaGraphAddNode accepts. Output parameters are written to `p`.
result<node_work> work_of(state& s, graph& g, const std::vector<graph_edge>& before,
                          cudaGraphNodeParams& p);
// New work for an existing node. The work must have the node's type, and that type must be one that
// can change.
result<node_work> new_work_of(state& s, const graph_node& node, cudaGraphNodeParams& p);

cudaKernelNodeParams parameters_of(kernel_work& kernel);

}  // namespace stepwise::runtime
