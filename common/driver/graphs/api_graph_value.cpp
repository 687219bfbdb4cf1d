// Batch memory operation nodes: calls that add nodes, and that query or change their parameters.
#include "common/driver/graphs/graph_values.hpp"
#include "common/driver/values.hpp"
#include "common/runtime/graphs/calls.hpp"

using namespace stepwise;
using namespace stepwise::driver;
using runtime::driver_work;
using runtime::graph_node;
using runtime::invalid_value;
using runtime::state;

namespace {

using batch = CUDA_BATCH_MEM_OP_NODE_PARAMS_v2;

value_operations list_of(const batch& p) { return {p.paramArray, p.count}; }

status check_batch(state& s, const batch* p) {
  if (!p || !p->paramArray || p->count == 0 || p->count > most_in_batch || p->flags != 0)
    return invalid_value(
        "a batch node of memory operations: no operations, too many operations, or flags");
  return check_values(s, list_of(*p));
}

// In an executable graph, the kind of each operation cannot change.
bool same_kinds(value_operations now, value_operations wanted) {
  if (now.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i].operation != wanted[i].operation) return false;
  return true;
}

status wrong_type() { return invalid_value("the graph node has another type"); }

// The work of such a node, or null if the node has another type.
driver_work* work_of(graph_node& node) {
  auto* const work = std::get_if<driver_work>(&node.work);
  return work && work->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP ? work : nullptr;
}

CUresult in_node_context(const batch* p, auto&& body, std::source_location at) {
  return answer(
      [&]() -> CUresult {
        const CUresult there = p ? check_context(p->ctx) : CUDA_SUCCESS;
        return there == CUDA_SUCCESS ? result_of(body()) : there;
      },
      at);
}

// The structure of the calls for this type of node has the same members.
const batch* same(const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) { return same_as<const batch>(p); }

}  // namespace

CUresult stepwise::driver::add_value_node(CUgraphNode* made, CUgraph to, const CUgraphNode* before,
                                          const CUgraphEdgeData* data, std::size_t count,
                                          const batch* p, std::source_location at) {
  return in_node_context(
      p,
      [&] {
        return runtime::with_graph(
            to,
            [&](state& s, runtime::graph& g) -> status {
              if (!made) return invalid_value("a graph: the pointer for the node is null");
              if (status sound = check_batch(s, p); !sound.ok()) return sound;
              const auto edges =
                  edges_to(s, g, before, same_as<const cudaGraphEdgeData>(data), count);
              if (!edges.ok()) return edges.failure();
              *made = runtime::handle_of(add_node(s, g, value_work(list_of(*p)), *edges));
              return {};
            },
            at);
      },
      at);
}

CUresult stepwise::driver::set_value_node(CUgraphNode node, const batch* p,
                                          std::source_location at) {
  return in_node_context(
      p,
      [&] {
        return runtime::with_node(
            node,
            [&](state& s, graph_node& found) -> status {
              driver_work* const work = work_of(found);
              if (!work) return wrong_type();
              status sound = check_batch(s, p);
              if (sound.ok()) *work = value_work(list_of(*p));
              return sound;
            },
            at);
      },
      at);
}

CUresult stepwise::driver::set_executable_value_node(CUgraphExec executable, CUgraphNode node,
                                                     const batch* p, std::source_location at) {
  return in_node_context(
      p,
      [&] {
        return runtime::with_copy(
            executable, node,
            [&](state& s, const graph_node&, graph_node& copy) -> status {
              driver_work* const work = work_of(copy);
              if (!work) return wrong_type();
              status sound = check_batch(s, p);
              if (!sound.ok()) return sound;
              if (!same_kinds(operations_of(*work), list_of(*p)))
                return invalid_value(
                    "the kinds of operations of an executable graph cannot change");
              *work = value_work(list_of(*p));
              return {};
            },
            at);
      },
      at);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* made, CUgraph to, const CUgraphNode* before,
                                  size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return add_value_node(made, to, before, nullptr, count, same(p));
}

// Returns a pointer to the node's own list, which is valid until its parameters change.
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return answer([&] {
    return runtime::with_node(node, [&](state&, graph_node& found) -> status {
      driver_work* const work = work_of(found);
      if (!work || !p) return wrong_type();
      const value_operations all = operations_of(*work);
      *p = {handle_of(contexts::get().current()), static_cast<unsigned>(all.size()),
            const_cast<CUstreamBatchMemOpParams*>(all.data()), 0};
      return {};
    });
  });
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return set_value_node(node, same(p));
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return set_executable_value_node(executable, node, same(p));
}
