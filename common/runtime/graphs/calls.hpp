// How the calls about graphs are written: see api.hpp.
#pragma once

#include "common/runtime/graphs/executable.hpp"

namespace stepwise::runtime {

// Does `body(state&, graph&)` for a graph of the program.
cudaError_t with_graph(cudaGraph_t handle, body_ref<state, graph> body,
                       std::source_location at = std::source_location::current());

// The same for a node.
cudaError_t with_node(cudaGraphNode_t handle, body_ref<state, graph_node> body,
                      std::source_location at = std::source_location::current());

// The same for an executable graph.
cudaError_t with_executable(cudaGraphExec_t handle, body_ref<state, executable_graph> body,
                            std::source_location at = std::source_location::current());

// The same for a node of an executable graph, by the node that it was copied from.
cudaError_t with_copy(cudaGraphExec_t executable, cudaGraphNode_t handle,
                      body_ref<state, const graph_node, graph_node> body,
                      std::source_location at = std::source_location::current());

// Calls the functions of user objects without references, which takes the lock only to find them.
void destroy_user_objects();

}  // namespace stepwise::runtime
