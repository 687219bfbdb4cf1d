// Calls that create graphs, query their contents, and change their edges.
#include <algorithm>
#include <cstring>

#include "common/runtime/graphs/calls.hpp"
#include "common/runtime/graphs/capture.hpp"
#include "common/runtime/graphs/dot.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

// Stores a list as these calls do. If `to` is null, stores only the length. If there is room for
// more entries than the list has, sets the rest to null.
template <class From, class To>
status store_list(const std::vector<From>& from, To* to, std::size_t* count) {
  if (!count) return invalid_value("a graph: the pointer for the number of entries is null");
  if (to) {
    for (std::size_t i = 0; i < *count; i++) to[i] = i < from.size() ? from[i] : To{};
    *count = std::min(*count, from.size());
  } else {
    *count = from.size();
  }
  return {};
}

bool is_default(const cudaGraphEdgeData& data) {
  const cudaGraphEdgeData none = {};
  return std::memcmp(&data, &none, sizeof data) == 0;
}

// Edges, each given by the nodes at its ends and its data.
struct edge_list {
  std::vector<cudaGraphNode_t> from, to;
  std::vector<cudaGraphEdgeData> data;

  // lossy_query if the result would drop non-default edge data.
  status check(const cudaGraphEdgeData* place, bool wanted) const {
    if (!wanted || place || std::all_of(data.begin(), data.end(), is_default)) return {};
    return {error::lossy_query, "the edges have data, but the call does not request it"};
  }
};

cudaError_t neighbours(cudaGraphNode_t handle, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                       std::size_t* count, std::vector<graph_edge> graph_node::*list,
                       std::source_location at = std::source_location::current()) {
  return with_node(
      handle,
      [&](state&, graph_node& node) {
        if (data && !nodes) return invalid_value("a graph: edge data without nodes");
        edge_list edges;
        for (const graph_edge& e : node.*list) {
          edges.to.push_back(handle_of(e.node));
          edges.data.push_back(e.data);
        }
        status kept = edges.check(data, nodes != nullptr);
        if (!kept.ok()) return kept;
        std::size_t places = count ? *count : 0;
        status stored = store_list(edges.to, nodes, count);
        if (stored.ok() && data) stored = store_list(edges.data, data, &places);
        return stored;
      },
      at);
}

// Runs `body(from, to, data)` for each edge in the program's list, after checking all nodes.
template <class Body>
cudaError_t with_edges(cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                       const cudaGraphEdgeData* data, std::size_t count, Body&& body,
                       std::source_location at = std::source_location::current()) {
  return with_graph(
      handle,
      [&](state& s, graph& g) {
        if (count != 0 && (!from || !to)) return invalid_value("a graph: no list of edges");
        for (std::size_t i = 0; i < count; i++) {
          for (const cudaGraphNode_t end : {from[i], to[i]}) {
            const graph_node* const node = find_node(s, end);
            if (!node || node->owner != &g)
              return invalid_value("an edge of a graph has an end that is not a node of the graph");
          }
        }
        status outcome;
        for (std::size_t i = 0; i < count && outcome.ok(); i++) {
          outcome = body(*find_node(s, from[i]), *find_node(s, to[i]),
                         data ? data[i] : cudaGraphEdgeData{});
        }
        return outcome;
      },
      at);
}

}  // namespace

cudaError_t cudaGraphCreate(cudaGraph_t* made, unsigned flags) {
  return call([&](state& s) {
    status here = has_graphs(s, "cudaGraphCreate");
    if (!here.ok()) return here;
    if (!made || flags != 0)
      return invalid_value("cudaGraphCreate: the pointer for the graph is null, or unknown flags");
    *made = handle_of(make_graph(s).release());
    return status{};
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  const cudaError_t outcome = with_graph(handle, [](state& s, graph& g) {
    if (g.parent) return invalid_value("cudaGraphDestroy: this graph belongs to a node");
    if (captures_of(s).writes_to(g))
      return invalid_value("cudaGraphDestroy: a stream is captured into this graph");
    forget_graph(s, g);
    delete &g;
    graphs_of(s).memory.collect(*s.current);
    return status{};
  });
  destroy_user_objects();
  return outcome;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return with_graph(original, [&](state& s, graph& g) -> status {
    if (!clone) return invalid_value("cudaGraphClone: the pointer for the graph is null");
    if (holds_memory_nodes(g) || holds_conditionals(g)) {
      return {error::not_supported,
              "cudaGraphClone: graphs with memory or conditional nodes cannot be cloned"};
    }
    auto made = copy_graph(s, g, true);
    made->original = &g;
    *clone = handle_of(made.release());
    return {};
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* found, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  return with_node(original, [&](state& s, graph_node& node) {
    const graph* const g = find_graph(s, clone);
    if (!found || !g) return invalid_value("cudaGraphNodeFindInClone: a null pointer, or no graph");
    for (const auto& copied : g->nodes) {
      if (copied->original != &node || copied->number != node.number) continue;
      *found = handle_of(copied.get());
      return status{};
    }
    return invalid_value("cudaGraphNodeFindInClone: the clone has no such node");
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  return with_graph(handle, [&](state&, const graph& g) {
    std::vector<cudaGraphNode_t> all;
    for (const auto& node : g.nodes) all.push_back(handle_of(node.get()));
    return store_list(all, nodes, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  return with_graph(handle, [&](state&, const graph& g) {
    std::vector<cudaGraphNode_t> roots;
    for (const auto& node : g.nodes)
      if (node->before.empty()) roots.push_back(handle_of(node.get()));
    return store_list(roots, nodes, count);
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, std::size_t* count) {
  return with_graph(handle, [&](state&, const graph& g) {
    if (!from != !to || (data && !from))
      return invalid_value("cudaGraphGetEdges: a list for only one end of the edges");
    edge_list edges;
    for (const auto& node : g.nodes) {
      for (const graph_edge& e : node->before) {
        edges.from.push_back(handle_of(e.node));
        edges.to.push_back(handle_of(node.get()));
        edges.data.push_back(e.data);
      }
    }
    status kept = edges.check(data, from != nullptr);
    if (!kept.ok()) return kept;
    std::size_t places = count ? *count : 0, same = places;
    status stored = store_list(edges.from, from, count);
    if (stored.ok() && to) stored = store_list(edges.to, to, &places);
    if (stored.ok() && data) stored = store_list(edges.data, data, &same);
    return stored;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* data, std::size_t* count) {
  return neighbours(node, nodes, data, count, &graph_node::before);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* data, std::size_t* count) {
  return neighbours(node, nodes, data, count, &graph_node::after);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                     std::size_t count) {
  return with_edges(
      g, from, to, data, count, [](graph_node& a, graph_node& b, const cudaGraphEdgeData& edge) {
        const bool there = std::any_of(b.before.begin(), b.before.end(),
                                       [&](const graph_edge& e) { return e.node == &a; });
        if (there || &a == &b)
          return invalid_value("the edge already exists, or goes from a node to itself");
        connect(a, b, edge);
        return status{};
      });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t g, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                        std::size_t count) {
  return with_edges(
      g, from, to, data, count,
      [](graph_node& a, graph_node& b, const cudaGraphEdgeData& edge) -> status {
        if (holds_memory_nodes(*a.owner)) {
          return invalid_value("a graph with memory nodes cannot lose nodes or edges");
        }
        return disconnect(a, b, edge) ? status{} : invalid_value("there is no such edge");
      });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  const cudaError_t outcome = with_node(handle, [](state& s, graph_node& node) {
    if (holds_memory_nodes(*node.owner))
      return invalid_value("a graph with memory nodes cannot lose nodes or edges");
    if (captures_of(s).writes_to(*node.owner))
      return invalid_value("cudaGraphDestroyNode: a stream is captured into this graph");
    remove_node(s, node);
    return status{};
  });
  destroy_user_objects();
  return outcome;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return with_node(handle, [&](state&, const graph_node& node) {
    if (!type) return invalid_value("cudaGraphNodeGetType: the output pointer is null");
    *type = node.type();
    return status{};
  });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path, unsigned flags) {
  return with_graph(handle, [&](state& s, const graph& g) {
    if (!path) return invalid_value("cudaGraphDebugDotPrint: no file");
    return write_dot(s, g, path, flags);
  });
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* made, cudaGraph_t handle,
                                             unsigned first, unsigned flags) {
  return with_graph(handle, [&](state& s, graph& g) -> status {
    if (!made || (flags & ~unsigned{cudaGraphCondAssignDefault}) != 0)
      return invalid_value("cudaGraphConditionalHandleCreate: a null pointer, or unknown flags");
    // The handle is the address where kernels store the condition's value.
    graph_state& all = graphs_of(s);
    const auto place = all.memory.allocate(*s.current, sizeof(unsigned), &g);
    if (!place.ok()) return place.failure();
    status cleared = s.current->fill(*place, 0, 4, 1);
    if (!cleared.ok()) return cleared;
    *made = *place;
    all.conditions[*made] = {first, flags};
    g.conditions.push_back(*made);
    return {};
  });
}
