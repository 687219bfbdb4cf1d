// The building blocks of graph calls, in the style of api.hpp.
#pragma once

#include "common/runtime/graphs/executable.hpp"

namespace stepwise::runtime {

// Runs `body(state&, graph&)` for the graph with this handle.
cudaError_t with_graph(cudaGraph_t handle, body_ref<state, graph> body,
                       std::source_location at = std::source_location::current());

// Runs `body(state&, graph_node&)` for the node with this handle.
cudaError_t with_node(cudaGraphNode_t handle, body_ref<state, graph_node> body,
                      std::source_location at = std::source_location::current());

// Runs `body(state&, executable_graph&)` for the executable graph with this handle.
cudaError_t with_executable(cudaGraphExec_t handle, body_ref<state, executable_graph> body,
                            std::source_location at = std::source_location::current());

// Runs `body(state&, original, copy)` for a node of an executable graph and its original, `handle`.
cudaError_t with_copy(cudaGraphExec_t executable, cudaGraphNode_t handle,
                      body_ref<state, const graph_node, graph_node> body,
                      std::source_location at = std::source_location::current());

// Destroys user objects without references. Must be called without the lock.
void destroy_user_objects();

}  // namespace stepwise::runtime
