// The common parts of the graph calls: finding the graph or node that a handle names.
//
// tests   ../tests/graph_test.cpp
#include "common/runtime/graphs/calls.hpp"

namespace stepwise::runtime {

cudaError_t with_graph(cudaGraph_t handle, body_ref<state, graph> body, std::source_location at) {
  return call(
      [&](state& s) {
        graph* const found = find_graph(s, handle);
        return found ? body(s, *found)
                     : invalid_value("there is no such graph; it may have been destroyed");
      },
      at);
}

cudaError_t with_node(cudaGraphNode_t handle, body_ref<state, graph_node> body,
                      std::source_location at) {
  return call(
      [&](state& s) {
        graph_node* const found = find_node(s, handle);
        return found ? body(s, *found)
                     : invalid_value("there is no such graph node; it may have been destroyed");
      },
      at);
}

cudaError_t with_executable(cudaGraphExec_t handle, body_ref<state, executable_graph> body,
                            std::source_location at) {
  return call(
      [&](state& s) {
        executable_graph* const found = find_executable(s, handle);
        return found
                   ? body(s, *found)
                   : invalid_value("there is no such executable graph; it may have been destroyed");
      },
      at);
}

cudaError_t with_copy(cudaGraphExec_t executable, cudaGraphNode_t handle,
                      body_ref<state, const graph_node, graph_node> body, std::source_location at) {
  return with_executable(
      executable,
      [&](state& s, executable_graph& e) {
        const graph_node* const node = find_node(s, handle);
        graph_node* const copied = node ? e.copy_of(*node) : nullptr;
        return copied ? body(s, *node, *copied)
                      : invalid_value("the executable graph was made without this node");
      },
      at);
}

}  // namespace stepwise::runtime
