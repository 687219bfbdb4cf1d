// Updates the nodes of executable graphs, one at a time or from another graph.
#include <algorithm>

#include "common/runtime/graphs/executable.hpp"

namespace stepwise::runtime {
namespace {

bool one_row(const copy_request& r) { return r.rows * r.layers == 1; }

// Whether an area is device memory, and whether it is host memory.
std::pair<bool, bool> place_of(state& s, const void* pointer) {
  const auto area = s.current->find_allocation(address_of(pointer));
  return {area.has_value(), !area || area->shared};
}

// The reason why a node cannot have this work, or empty if it can.
std::string obstacle(state& s, const node_work& now, const node_work& wanted, bool whole_graph) {
  if (const auto* a = std::get_if<copy_work>(&now)) {
    const auto& b = std::get<copy_work>(wanted);
    if (place_of(s, a->request.to) != place_of(s, b.request.to) ||
        place_of(s, a->request.from) != place_of(s, b.request.from)) {
      return "a copy between other kinds of memory";
    }
    const bool linear = one_row(a->request) && one_row(b.request);
    const bool same_shape = a->request.rows == b.request.rows &&
                            a->request.layers == b.request.layers &&
                            a->request.width == b.request.width;
    if (!linear && !(whole_graph && same_shape)) return "a copy of several rows";
  }
  if (const auto* a = std::get_if<fill_work>(&now)) {
    const cudaMemsetParams &from = a->asked, &to = std::get<fill_work>(wanted).asked;
    const bool linear = from.height == 1 && to.height == 1;
    const bool same_shape = from.height == to.height && from.width == to.width &&
                            from.elementSize == to.elementSize && from.pitch == to.pitch;
    if (!linear && !(whole_graph && same_shape)) return "a fill of several rows";
    if (place_of(s, from.dst) != place_of(s, to.dst)) return "a fill of another kind of memory";
  }
  if (const auto* a = std::get_if<allocation_work>(&now)) {
    if (a->asked.bytesize != std::get<allocation_work>(wanted).asked.bytesize ||
        a->asked.dptr != std::get<allocation_work>(wanted).asked.dptr)
      return "another allocation";
  }
  if (const auto* a = std::get_if<release_work>(&now))
    if (a->address != std::get<release_work>(wanted).address) return "another allocation";
  if (const auto* a = std::get_if<conditional_work>(&now)) {
    const auto& b = std::get<conditional_work>(wanted);
    if (a->type != b.type || a->bodies.size() != b.bodies.size() || a->handle != b.handle)
      return "another condition";
  }
  return {};
}

using pairing = std::vector<std::pair<graph_node*, const graph_node*>>;

// Pairs the nodes of two graphs, from the last nodes backwards and in the order of their edges, as
// documented by NVIDIA.
class pairer {
 public:
  pairer(state& s, pairing& pairs, update_outcome& outcome)
      : s_(s), pairs_(pairs), outcome_(outcome) {}

  bool pair(const graph& now, const graph& wanted) {
    if (now.nodes.size() != wanted.nodes.size())
      return differs(nullptr, nullptr, "the graphs have different numbers of nodes");
    const auto last_now = last(now), last_wanted = last(wanted);
    if (last_now.size() != last_wanted.size())
      return differs(last_wanted.empty() ? nullptr : last_wanted.back(), nullptr,
                     "the graphs have different numbers of last nodes");
    for (std::size_t i = 0; i < last_now.size(); i++)
      if (!join(last_now[i], last_wanted[i], nullptr)) return false;
    for (std::size_t i = 0; i < todo_.size(); i++) {
      const auto [a, b] = todo_[i];
      if (a->before.size() != b->before.size())
        return differs(b, nullptr, "a node has a different number of dependencies");
      for (std::size_t k = 0; k < a->before.size(); k++)
        if (!join(a->before[k].node, b->before[k].node, b)) return false;
    }
    // check() may pair nested graphs, which needs an empty todo_.
    const auto own = std::move(todo_);
    todo_.clear();
    return std::all_of(own.begin(), own.end(),
                       [&](const auto& both) { return check(both.first, both.second); });
  }

 private:
  static std::vector<graph_node*> last(const graph& g) {
    std::vector<graph_node*> found;
    for (const auto& node : g.nodes)
      if (node->after.empty()) found.push_back(node.get());
    return found;
  }

  bool differs(const graph_node* node, const graph_node* from, const char* why,
               cudaGraphExecUpdateResult result = cudaGraphExecUpdateErrorTopologyChanged) {
    outcome_ = {result, node, from, why};
    return false;
  }

  bool join(graph_node* now, const graph_node* wanted, const graph_node* before) {
    const auto a = of_now_.find(now);
    const auto b = of_wanted_.find(wanted);
    if (a == of_now_.end() && b == of_wanted_.end()) {
      of_now_[now] = wanted;
      of_wanted_[wanted] = now;
      todo_.emplace_back(now, wanted);
      return true;
    }
    if (a != of_now_.end() && b != of_wanted_.end() && a->second == wanted) return true;
    return differs(before ? before : wanted, before ? wanted : nullptr,
                   "a dependency does not match");
  }

  bool check(graph_node* now, const graph_node* wanted) {
    if (now->type() != wanted->type())
      return differs(wanted, nullptr, "a node has another type",
                     cudaGraphExecUpdateErrorNodeTypeChanged);
    if (const auto* kernel = std::get_if<kernel_work>(&now->work)) {
      if (kernel->cooperative() != std::get<kernel_work>(wanted->work).cooperative())
        return differs(wanted, nullptr, "only one of the two kernels is cooperative",
                       cudaGraphExecUpdateErrorAttributesChanged);
    }
    const std::string why = obstacle(s_, now->work, wanted->work, true);
    if (!why.empty())
      return differs(wanted, nullptr, why.c_str(), cudaGraphExecUpdateErrorParametersChanged);
    if (const auto* child = std::get_if<child_work>(&now->work)) {
      if (!pair(*child->body, *std::get<child_work>(wanted->work).body)) return false;
    } else if (const auto* conditional = std::get_if<conditional_work>(&now->work)) {
      const auto& bodies = std::get<conditional_work>(wanted->work).bodies;
      for (std::size_t i = 0; i < bodies.size(); i++)
        if (!pair(*conditional->bodies[i], *bodies[i])) return false;
    } else {
      pairs_.emplace_back(now, wanted);
    }
    return true;
  }

  state& s_;
  pairing& pairs_;
  update_outcome& outcome_;
  std::map<const graph_node*, const graph_node*> of_now_, of_wanted_;
  std::vector<std::pair<graph_node*, const graph_node*>> todo_;
};

void take_over(state& s, const pairing& pairs) {
  for (const auto& [now, wanted] : pairs) {
    now->work = copy_work_of(s, wanted->work, false, now);
    now->origin = wanted->origin;
  }
}

}  // namespace

update_outcome update_executable(state& s, executable_graph& e, const graph& g) {
  update_outcome outcome;
  pairing pairs;
  if (pairer(s, pairs, outcome).pair(*e.copy, g)) take_over(s, pairs);
  return outcome;
}

status replace_child(state& s, graph_node& node, const graph& g) {
  const auto* const child = std::get_if<child_work>(&node.work);
  if (!child) return invalid_value("this node of the executable graph is not a child node");
  update_outcome outcome;
  pairing pairs;
  if (!pairer(s, pairs, outcome).pair(*child->body, g))
    return {error::graph_exec_update_failure,
            "the shape of a child node of an executable graph cannot change: " + outcome.why};
  take_over(s, pairs);
  return {};
}

status replace_work(state& s, graph_node& node, node_work work) {
  if (const std::string why = obstacle(s, node.work, work, false); !why.empty())
    return invalid_value("a node of an executable graph cannot become " + why);
  if (auto* const kernel = std::get_if<kernel_work>(&node.work))
    std::get<kernel_work>(work).attributes = kernel->attributes;
  node.work = std::move(work);
  return {};
}

}  // namespace stepwise::runtime
