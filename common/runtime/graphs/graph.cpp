// Builds, orders, copies and destroys graphs.
#include "common/runtime/graphs/graph.hpp"

#include <algorithm>
#include <cstring>
#include <queue>

namespace stepwise::runtime {
namespace {

bool same_data(const cudaGraphEdgeData& a, const cudaGraphEdgeData& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// We treat every kernel port as the end of the kernel.
bool known_data(const cudaGraphEdgeData& data) {
  const bool unused_clear = std::all_of(std::begin(data.reserved), std::end(data.reserved),
                                        [](unsigned char byte) { return byte == 0; });
  return data.to_port == 0 && unused_clear &&
         data.from_port <= cudaGraphKernelNodePortLaunchCompletion &&
         data.type <= cudaGraphDependencyTypeProgrammatic;
}

// Removes the edges to `node` among `edges`.
void erase_edges(std::vector<graph_edge>& edges, const graph_node* node) {
  std::erase_if(edges, [&](const graph_edge& e) { return e.node == node; });
}

// Runs `body(graph&)` for the graphs inside a node.
template <class Body>
void for_each_body(const graph_node& node, Body&& body) {
  if (const auto* child = std::get_if<child_work>(&node.work)) body(*child->body);
  if (const auto* conditional = std::get_if<conditional_work>(&node.work))
    for (const auto& g : conditional->bodies) body(*g);
}

}  // namespace

bool kernel_work::cooperative() const {
  const auto found = attributes.find(cudaLaunchAttributeCooperative);
  if (found == attributes.end()) return false;
  int value = 0;
  std::memcpy(&value, found->second.data(), sizeof value);
  return value != 0;
}

extent kernel_work::cluster() const {
  const auto found = attributes.find(cudaLaunchAttributeClusterDimension);
  if (found == attributes.end()) return no_cluster;
  unsigned sides[3];
  std::memcpy(sides, found->second.data(), sizeof sides);
  return {sides[0], sides[1], sides[2]};
}

cudaGraphNodeType graph_node::type() const {
  if (const auto* driver = std::get_if<driver_work>(&work))
    return static_cast<cudaGraphNodeType>(driver->type);
  constexpr cudaGraphNodeType by_work[] = {
      cudaGraphNodeTypeEmpty,     cudaGraphNodeTypeKernel,     cudaGraphNodeTypeMemcpy,
      cudaGraphNodeTypeMemset,    cudaGraphNodeTypeHost,       cudaGraphNodeTypeEventRecord,
      cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeMemAlloc,   cudaGraphNodeTypeMemFree,
      cudaGraphNodeTypeGraph,     cudaGraphNodeTypeConditional};
  static_assert(std::size(by_work) + 1 == std::variant_size_v<node_work>);
  return by_work[work.index()];
}

graph::graph() = default;
graph::~graph() = default;

graph_state& graphs_of(state& s) {
  if (!s.graphs) s.graphs = std::make_shared<graph_state>();
  return *s.graphs;
}

status has_graphs(const state& s, const char* function) {
  if (!s.current->is_remote()) return {};
  status refused{error::not_supported, std::string(function) +
                                           ": not possible in a graded call, because the device is "
                                           "in another process, which runs no graphs"};
  announce(refused.message);
  return refused;
}

std::unique_ptr<graph> make_graph(state& s) {
  auto made = std::make_unique<graph>();
  graphs_of(s).graphs.insert(made.get());
  return made;
}

void forget_graph(state& s, graph& g) {
  graph_state& all = graphs_of(s);
  for (const auto& node : g.nodes) {
    all.nodes.erase(node.get());
    for_each_body(*node, [&](graph& body) { forget_graph(s, body); });
  }
  all.memory.forget_owner(&g);
  for (const cudaGraphConditionalHandle handle : g.conditions) all.conditions.erase(handle);
  for (const auto& [handle, count] : g.user_objects) release_user_object(s, handle, count);
  all.graphs.erase(&g);
  for (graph* other : all.graphs)
    if (other->original == &g) other->original = nullptr;
}

graph* find_graph(state& s, cudaGraph_t handle) {
  if (!s.graphs) return nullptr;
  auto* const g = reinterpret_cast<graph*>(handle);
  return s.graphs->graphs.count(g) ? g : nullptr;
}

graph_node* find_node(state& s, cudaGraphNode_t handle) {
  if (!s.graphs) return nullptr;
  auto* const node = reinterpret_cast<graph_node*>(handle);
  return s.graphs->nodes.count(node) ? node : nullptr;
}

result<std::vector<graph_edge>> edges_to(state& s, const graph& g, const cudaGraphNode_t* nodes,
                                         const cudaGraphEdgeData* data, std::size_t count) {
  std::vector<graph_edge> edges;
  if (count != 0 && !nodes) return invalid_value("a graph: no list of dependencies");
  for (std::size_t i = 0; i < count; i++) {
    graph_node* const node = find_node(s, nodes[i]);
    if (!node || node->owner != &g)
      return invalid_value("a dependency is not a node of this graph");
    const bool again = std::any_of(edges.begin(), edges.end(),
                                   [&](const graph_edge& e) { return e.node == node; });
    if (again) return invalid_value("a node is named twice among the dependencies");
    const cudaGraphEdgeData edge = data ? data[i] : cudaGraphEdgeData{};
    if (!known_data(edge)) return invalid_value("an edge of a graph with unknown data");
    edges.push_back({node, edge});
  }
  return edges;
}

graph_node* add_node(state& s, graph& g, node_work work, const std::vector<graph_edge>& before) {
  graph_node* const node = g.nodes.emplace_back(std::make_unique<graph_node>()).get();
  graph_state& all = graphs_of(s);
  node->owner = &g;
  node->work = std::move(work);
  node->number = ++all.numbers;
  if (s.checks) node->origin = s.checks->origin();
  for_each_body(*node, [&](graph& body) { body.parent = node; });
  for (const graph_edge& e : before) connect(*e.node, *node, e.data);
  all.nodes.insert(node);
  return node;
}

void remove_node(state& s, graph_node& node) {
  for (const graph_edge& e : node.before) erase_edges(e.node->after, &node);
  for (const graph_edge& e : node.after) erase_edges(e.node->before, &node);
  for_each_body(node, [&](graph& body) { forget_graph(s, body); });
  graphs_of(s).nodes.erase(&node);
  std::erase_if(node.owner->nodes, [&](const auto& n) { return n.get() == &node; });
}

void connect(graph_node& from, graph_node& to, const cudaGraphEdgeData& data) {
  from.after.push_back({&to, data});
  to.before.push_back({&from, data});
}

bool disconnect(graph_node& from, graph_node& to, const cudaGraphEdgeData& data) {
  const auto remove = [&](std::vector<graph_edge>& edges, const graph_node* node) {
    return std::erase_if(
        edges, [&](const graph_edge& e) { return e.node == node && same_data(e.data, data); });
  };
  if (remove(from.after, &to) == 0) return false;
  remove(to.before, &from);
  return true;
}

std::set<const graph_node*> with_ancestors(const std::vector<graph_edge>& nodes) {
  std::set<const graph_node*> seen;
  std::vector<const graph_node*> todo;
  for (const graph_edge& e : nodes) todo.push_back(e.node);
  while (!todo.empty()) {
    const graph_node* const node = todo.back();
    todo.pop_back();
    if (!seen.insert(node).second) continue;
    for (const graph_edge& e : node->before) todo.push_back(e.node);
  }
  return seen;
}

result<std::vector<graph_node*>> in_order(const graph& g, const graph_node** where) {
  std::map<const graph_node*, std::size_t> missing;
  const auto later = [](const graph_node* a, const graph_node* b) { return a->number > b->number; };
  std::priority_queue<graph_node*, std::vector<graph_node*>, decltype(later)> ready(later);
  for (const auto& node : g.nodes) {
    missing[node.get()] = node->before.size();
    if (node->before.empty()) ready.push(node.get());
  }
  std::vector<graph_node*> ordered;
  for (; !ready.empty();) {
    graph_node* const node = ready.top();
    ready.pop();
    ordered.push_back(node);
    for (const graph_edge& e : node->after)
      if (--missing[e.node] == 0) ready.push(e.node);
  }
  if (ordered.size() == g.nodes.size()) return ordered;
  for (const auto& [node, count] : missing)
    if (where && count != 0) *where = node;
  return invalid_value("the graph has a cycle");
}

bool holds(const graph& g, bool (*what)(const graph_node&)) {
  return std::any_of(g.nodes.begin(), g.nodes.end(), [&](const auto& node) {
    bool found = what(*node);
    for_each_body(*node, [&](const graph& body) { found = found || holds(body, what); });
    return found;
  });
}

bool holds_memory_nodes(const graph& g) {
  return holds(g, [](const graph_node& n) {
    return std::holds_alternative<allocation_work>(n.work) ||
           std::holds_alternative<release_work>(n.work);
  });
}

bool holds_conditionals(const graph& g) {
  return holds(
      g, [](const graph_node& n) { return std::holds_alternative<conditional_work>(n.work); });
}

node_work copy_work_of(state& s, const node_work& work, bool named, graph_node* parent) {
  const auto inside = [&](const graph& body) {
    auto copied = copy_graph(s, body, named);
    copied->parent = parent;
    return copied;
  };
  return std::visit(
      [&](const auto& w) -> node_work {
        using kind = std::decay_t<decltype(w)>;
        if constexpr (std::is_same_v<kind, child_work>) {
          return child_work{inside(*w.body)};
        } else if constexpr (std::is_same_v<kind, conditional_work>) {
          conditional_work copied{w.handle, w.type, {}, {}};
          for (const auto& body : w.bodies) {
            copied.bodies.push_back(inside(*body));
            copied.handles.push_back(handle_of(copied.bodies.back().get()));
          }
          return copied;
        } else {
          return w;
        }
      },
      work);
}

std::unique_ptr<graph> copy_graph(state& s, const graph& g, bool named) {
  auto copied = named ? make_graph(s) : std::make_unique<graph>();
  for (const auto& [object, count] : g.user_objects) {
    copied->user_objects[object] = count;
    graphs_of(s).user_objects.at(object)->references += count;
  }
  std::map<const graph_node*, graph_node*> counterpart;
  for (const auto& node : g.nodes) {
    graph_node* const made = copied->nodes.emplace_back(std::make_unique<graph_node>()).get();
    made->owner = copied.get();
    made->original = node.get();
    made->enabled = node->enabled;
    made->origin = node->origin;
    made->number = node->number;
    made->work = copy_work_of(s, node->work, named, made);
    if (named) graphs_of(s).nodes.insert(made);
    counterpart[node.get()] = made;
  }
  for (const auto& node : g.nodes)
    for (const graph_edge& e : node->before)
      counterpart[node.get()]->before.push_back({counterpart[e.node], e.data});
  for (const auto& node : g.nodes)
    for (const graph_edge& e : node->after)
      counterpart[node.get()]->after.push_back({counterpart[e.node], e.data});
  return copied;
}

void release_user_object(state& s, void* handle, unsigned count) {
  graph_state& all = graphs_of(s);
  const auto found = all.user_objects.find(handle);
  if (found == all.user_objects.end()) return;
  user_object& object = *found->second;
  object.references -= std::min(object.references, count);
  if (object.references != 0) return;
  all.to_destroy.emplace_back(object.destroy, object.object);
  all.user_objects.erase(found);
}

}  // namespace stepwise::runtime
