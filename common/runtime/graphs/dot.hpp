// Graphs as text in Graphviz's language.
#pragma once

#include "common/runtime/graphs/graph.hpp"

namespace stepwise::runtime {

// Writes a file. `flags`: cudaGraphDebugDotFlags...; any that names parameters shows them.
// file_not_found where it cannot be written.
status write_dot(state& s, const graph& g, const char* path, unsigned flags);

}  // namespace stepwise::runtime
