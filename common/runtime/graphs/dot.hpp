// Graphs as Graphviz text.
#pragma once

#include "common/runtime/graphs/graph.hpp"

namespace stepwise::runtime {

// Writes a file. `flags` are cudaGraphDebugDotFlags; any flag shows the nodes' parameters.
// file_not_found if the file cannot be written.
status write_dot(state& s, const graph& g, const char* path, unsigned flags);

}  // namespace stepwise::runtime
