// How the calls about graphs are written: see api.hpp.
#pragma once

#include "common/runtime/graphs/executable.hpp"

namespace stepwise::runtime {

// Does `body(state&, graph&)` for a graph of the program.
template <class Body>
cudaError_t with_graph(cudaGraph_t handle, Body&& body,
                       std::source_location at = std::source_location::current()) {
  return call(
      [&](state& s) -> status {
        graph* const found = find_graph(s, handle);
        return found ? body(s, *found) : invalid_value("there is no such graph; was it destroyed?");
      },
      at);
}

// The same for a node.
template <class Body>
cudaError_t with_node(cudaGraphNode_t handle, Body&& body,
                      std::source_location at = std::source_location::current()) {
  return call(
      [&](state& s) -> status {
        graph_node* const found = find_node(s, handle);
        return found ? body(s, *found)
                     : invalid_value("there is no such node of a graph; was it destroyed?");
      },
      at);
}

// The same for an executable graph.
template <class Body>
cudaError_t with_executable(cudaGraphExec_t handle, Body&& body,
                            std::source_location at = std::source_location::current()) {
  return call(
      [&](state& s) -> status {
        executable_graph* const found = find_executable(s, handle);
        return found ? body(s, *found)
                     : invalid_value("there is no such executable graph; was it destroyed?");
      },
      at);
}

// The same for a node of an executable graph, by the node that it was copied from.
template <class Body>
cudaError_t with_copy(cudaGraphExec_t executable, cudaGraphNode_t handle, Body&& body,
                      std::source_location at = std::source_location::current()) {
  return with_executable(
      executable,
      [&](state& s, executable_graph& e) -> status {
        const graph_node* const node = find_node(s, handle);
        graph_node* const copied = node ? e.copy_of(*node) : nullptr;
        return copied ? body(s, *node, *copied)
                      : invalid_value("the executable graph was made without this node");
      },
      at);
}

// Calls the functions of user objects without references, which takes the lock only to find them.
void destroy_user_objects();

}  // namespace stepwise::runtime
