// Plans the steps of a graph, and runs them.
#include "common/runtime/graphs/executable.hpp"

#include <algorithm>

#include "common/runtime/api/events.hpp"
#include "common/runtime/graphs/capture.hpp"
#include "common/runtime/graphs/node_work.hpp"

namespace stepwise::runtime {
namespace {

// Lane and event numbers start here, above the numbers of the program's streams and events.
constexpr std::uint64_t first_lane_number = std::uint64_t{1} << 48;

class planner {
 public:
  explicit planner(state& s) : s_(s) {}

  graph_plan plan(const graph& g) {
    graph_plan made;
    made.begin_event = fresh();
    made.lanes.push_back(0);
    std::vector<std::vector<std::size_t>> before;
    add(made, before, g, {});
    assign_lanes(made, before);
    return made;
  }

 private:
  std::uint64_t fresh() { return first_lane_number + ++graphs_of(s_).numbers; }

  std::size_t add_step(graph_plan& to, std::vector<std::vector<std::size_t>>& before,
                       graph_node* node, std::vector<std::size_t> after) {
    plan_step step;
    step.node = node;
    step.event = fresh();
    to.steps.push_back(std::move(step));
    before.push_back(std::move(after));
    return to.steps.size() - 1;
  }

  // Adds a graph's steps. The first steps follow `after`. Returns the last steps.
  std::vector<std::size_t> add(graph_plan& to, std::vector<std::vector<std::size_t>>& before,
                               const graph& g, const std::vector<std::size_t>& after) {
    std::map<const graph_node*, std::size_t> end_of;
    std::vector<std::size_t> last;
    const auto ordered = in_order(g);
    for (graph_node* node : *ordered) {
      std::vector<std::size_t> needs;
      for (const graph_edge& e : node->before) needs.push_back(end_of.at(e.node));
      if (needs.empty()) needs = after;
      std::size_t step = 0;
      if (const auto* child = std::get_if<child_work>(&node->work)) {
        const std::size_t first = add_step(to, before, nullptr, std::move(needs));
        auto ends = add(to, before, *child->body, {first});
        if (ends.empty()) ends.push_back(first);
        step = add_step(to, before, nullptr, std::move(ends));
      } else {
        step = add_step(to, before, node, std::move(needs));
        if (const auto* conditional = std::get_if<conditional_work>(&node->work))
          for (const auto& body : conditional->bodies) {
            graph_plan inside = plan(*body);
            to.steps[step].bodies.push_back(std::move(inside));
          }
      }
      end_of[node] = step;
      if (node->after.empty()) last.push_back(step);
    }
    return last;
  }

  // A step continues the lane of a step on which it depends, unless another step already continues
  // that lane.
  void assign_lanes(graph_plan& p, const std::vector<std::vector<std::size_t>>& before) {
    constexpr std::size_t none = ~std::size_t{0};
    std::vector<std::size_t> tail = {none};
    std::vector<bool> followed(p.steps.size());
    for (std::size_t i = 0; i < p.steps.size(); i++) {
      plan_step& step = p.steps[i];
      std::size_t lane = none;
      for (const std::size_t b : before[i]) {
        followed[b] = true;
        if (lane == none && tail[p.steps[b].lane] == b) lane = p.steps[b].lane;
      }
      if (before[i].empty() && tail[0] == none) lane = 0;
      if (lane == none) {
        lane = p.lanes.size();
        p.lanes.push_back(fresh());
        tail.push_back(none);
        step.waits_for_begin = true;
      }
      step.lane = lane;
      for (const std::size_t b : before[i]) {
        if (p.steps[b].lane == lane) continue;
        step.waits.push_back(b);
        p.steps[b].marked = true;
      }
      tail[lane] = i;
    }
    for (std::size_t i = 0; i < p.steps.size(); i++) {
      if (followed[i] || p.steps[i].lane == 0) continue;
      p.ends.push_back(i);
      p.steps[i].marked = true;
    }
  }

  state& s_;
};

void note_copies(executable_graph& e, const graph& g) {
  for (const auto& node : g.nodes) {
    e.by_original[node->original] = node.get();
    if (const auto* child = std::get_if<child_work>(&node->work)) note_copies(e, *child->body);
    if (const auto* conditional = std::get_if<conditional_work>(&node->work)) {
      e.conditions[conditional->handle] = std::nullopt;
      for (const auto& body : conditional->bodies) note_copies(e, *body);
    }
  }
}

// Notes the memory that the plan allocates and releases.
void note_memory(state& s, executable_graph& e) {
  const graph_memory& memory = graphs_of(s).memory;
  std::set<device_address> allocated;
  std::map<device_address, long> open;
  std::uint64_t now = 0;
  for (const plan_step& step : e.plan.steps) {
    if (!step.node) continue;
    if (const auto* a = std::get_if<allocation_work>(&step.node->work)) {
      const device_address address = address_of(a->asked.dptr);
      allocated.insert(address);
      open[address]++;
      now += graph_memory::rounded(memory.bytes_of(address));
      e.own_bytes = std::max(e.own_bytes, now);
    }
    if (const auto* r = std::get_if<release_work>(&step.node->work)) {
      const device_address address = address_of(r->address);
      if (allocated.count(address)) {
        open[address]--;
        now -= graph_memory::rounded(memory.bytes_of(address));
      } else {
        e.taken.push_back(address);
      }
    }
  }
  std::uint64_t left = 0;
  for (const auto& [address, count] : open) {
    if (count <= 0) continue;
    e.left.push_back(address);
    left += graph_memory::rounded(memory.bytes_of(address));
  }
  e.own_bytes -= std::min(e.own_bytes, left);
  e.memory.assign(allocated.begin(), allocated.end());
}

bool is_among(const std::vector<device_address>& all, device_address one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

stream_use lane_of(const graph_plan& plan, const plan_step& step, const stream_use& base) {
  return step.lane == 0 ? base : stream_use{plan.lanes[step.lane], true};
}

// While this object exists, work submitted to the state belongs to a lane.
struct in_lane {
  in_lane(state& of, const stream_use& lane) : s(of) { s.lane = &lane; }
  ~in_lane() { s.lane = nullptr; }
  in_lane(const in_lane&) = delete;
  in_lane& operator=(const in_lane&) = delete;
  state& s;
};

// Marks an event for checking devices. Returns the event's point if the lane has to wait, otherwise
// 0.
std::uint64_t mark_now_or_later(state& s, std::uint64_t event, const stream_use& lane) {
  const auto now = [&s, event, lane] { return mark_for_checks(s, event, lane), status{}; };
  const std::uint64_t point = s.order.empty() ? 0 : s.order.mark(lane, now);
  if (point == 0) (void)now();
  return point;
}

void wait_now_or_later(state& s, std::uint64_t event, std::uint64_t point, const stream_use& lane) {
  if (!s.order.is_outstanding(point)) return wait_for_checks(s, event, lane);
  s.order.wait(lane, point,
               [&s, event, lane] { return wait_for_checks(s, event, lane), status{}; });
}

bool only_one_executable(const graph& g) { return holds_memory_nodes(g) || holds_conditionals(g); }

}  // namespace

graph_node* executable_graph::copy_of(const graph_node& node) const {
  const auto found = by_original.find(&node);
  // Compare the numbers, too, because a new node may have the address of a destroyed node.
  const bool same = found != by_original.end() && found->second->number == node.number;
  return same ? found->second : nullptr;
}

result<std::shared_ptr<executable_graph>> make_executable(state& s, graph& g,
                                                          unsigned long long flags,
                                                          const graph_node** where) {
  struct cycles {
    static status find(const graph& g, const graph_node** where) {
      const auto ordered = in_order(g, where);
      if (!ordered.ok()) return ordered.failure();
      for (const graph_node* node : *ordered) {
        status inside;
        if (const auto* child = std::get_if<child_work>(&node->work))
          inside = find(*child->body, where);
        if (const auto* conditional = std::get_if<conditional_work>(&node->work))
          for (const auto& body : conditional->bodies)
            if (inside.ok()) inside = find(*body, where);
        if (!inside.ok()) return inside;
      }
      return {};
    }
  };
  *where = nullptr;
  if (g.parent) return invalid_value("a graph inside a node is instantiated with its node's graph");
  status sound = cycles::find(g, where);
  if (!sound.ok()) return sound;
  const bool only_one = only_one_executable(g);
  if (only_one && g.executables != 0) {
    return invalid_value(
        "a graph with memory or conditional nodes can be instantiated once: destroy the first "
        "executable graph");
  }
  graph_state& all = graphs_of(s);
  auto made = std::make_shared<executable_graph>();
  made->copy = copy_graph(s, g, false);
  made->flags = flags;
  note_copies(*made, *made->copy);
  made->plan = planner(s).plan(*made->copy);
  note_memory(s, *made);
  for (auto& [handle, first] : made->conditions) {
    const auto known = all.conditions.find(handle);
    if (known == all.conditions.end())
      return invalid_value("the graph of a conditional node's handle no longer exists");
    if (known->second.second & cudaGraphCondAssignDefault) first = known->second.first;
    made->memory.push_back(handle);
  }
  all.memory.hold(made->memory);
  if (only_one) {
    made->source = &g;
    g.executables++;
  }
  all.executables[made.get()] = made;
  return made;
}

executable_graph* find_executable(state& s, cudaGraphExec_t handle) {
  if (!s.graphs) return nullptr;
  auto* const e = reinterpret_cast<executable_graph*>(handle);
  return s.graphs->executables.count(e) ? e : nullptr;
}

void destroy_executable(state& s, executable_graph& e) {
  graph_state& all = graphs_of(s);
  if (e.source && all.graphs.count(e.source)) e.source->executables--;
  forget_graph(s, *e.copy);
  all.memory.let_go(e.memory);
  all.memory.collect(*s.current);
  all.executables.erase(&e);
}

status graph_run::begin(state& s) {
  graph_memory& memory = graphs_of(s).memory;
  if (of_->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) {
    for (const device_address a : of_->left) memory.set_live(a, false);
  }
  for (const device_address a : of_->left) {
    if (memory.is_live(a)) {
      return invalid_value(
          "cudaGraphLaunch: memory of the previous launch is not released; see "
          "cudaGraphInstantiateFlagAutoFreeOnLaunch");
    }
  }
  for (const device_address a : of_->taken) {
    if (!memory.is_live(a))
      return invalid_value("cudaGraphLaunch: memory that the graph releases is not allocated");
  }
  const stream_use base = use_of(s, stream_);
  if (!of_->conditions.empty()) s.wait_for_stream(base);  // the values are set in this call
  if (of_->own_bytes != 0) memory.reserve(base.stream, of_->own_bytes);
  for (const auto& [handle, first] : of_->conditions) {
    if (!first) continue;
    enter_stream(s, stream_);
    status set = s.current->fill(handle, *first, 4, 1);
    if (!set.ok()) return set;
  }
  come_after_earlier_launches(s, base);
  enter(s, of_->plan, base);
  return {};
}

status graph_run::advance(state& s, host_work* next) {
  *next = {};
  const stream_use base = use_of(s, stream_);
  const graph_plan& plan = of_->plan;
  for (; next_ < plan.steps.size(); next_++) {
    status outcome = run_step(s, plan, next_, base);
    if (!outcome.ok()) return outcome;
    const graph_node* const node = plan.steps[next_].node;
    const auto* const host = node ? std::get_if<host_work>(&node->work) : nullptr;
    if (!host) continue;
    const stream_use lane = lane_of(plan, plan.steps[next_], base);
    if (!s.order.empty() && s.order.must_wait(lane)) continue;  // run_step() deferred it
    *next = *host;
    next_++;
    return s.synchronize();
  }
  leave(s, plan, base);
  note_end(s, base);
  return {};
}

void graph_run::mark(state& s, std::uint64_t event, const stream_use& lane) {
  note_event(s, asked::kind::record, stream_, event);
  if (const std::uint64_t point = mark_now_or_later(s, event, lane)) points_[event] = point;
}

void graph_run::wait(state& s, std::uint64_t event, const stream_use& lane) {
  note_event(s, asked::kind::wait_event, stream_, event);
  const auto point = points_.find(event);
  wait_now_or_later(s, event, point == points_.end() ? 0 : point->second, lane);
}

void graph_run::come_after_earlier_launches(state& s, const stream_use& base) {
  if (of_->end_event != 0) wait_now_or_later(s, of_->end_event, of_->end_point, base);
}

void graph_run::note_end(state& s, const stream_use& base) {
  if (of_->end_event == 0) of_->end_event = first_lane_number + ++graphs_of(s).numbers;
  of_->end_point = mark_now_or_later(s, of_->end_event, base);
}

void graph_run::enter(state& s, const graph_plan& plan, const stream_use& base) {
  if (plan.lanes.size() == 1) return;
  const in_lane guard(s, base);
  mark(s, plan.begin_event, base);
}

void graph_run::leave(state& s, const graph_plan& plan, const stream_use& base) {
  const in_lane guard(s, base);
  for (const std::size_t i : plan.ends) {
    enter_stream(s, stream_);
    wait(s, plan.steps[i].event, base);
  }
}

status graph_run::run_step(state& s, const graph_plan& plan, std::size_t number,
                           const stream_use& base) {
  const plan_step& step = plan.steps[number];
  if (!tracked(s) && s.order.empty() && plan.lanes.size() == 1) return run_node(s, step, base);
  const stream_use lane = lane_of(plan, step, base);
  const in_lane guard(s, lane);
  enter_stream(s, stream_);
  if (step.waits_for_begin) wait(s, plan.begin_event, lane);
  for (const std::size_t i : step.waits) wait(s, plan.steps[i].event, lane);
  status outcome = run_node(s, step, lane);
  s.lane = &lane;
  if (step.marked) mark(s, step.event, lane);
  return outcome;
}

status graph_run::run_all(state& s, const graph_plan& plan, const stream_use& base) {
  enter(s, plan, base);
  for (std::size_t i = 0; i < plan.steps.size(); i++) {
    status outcome = run_step(s, plan, i, base);
    if (!outcome.ok()) return outcome;
  }
  leave(s, plan, base);
  return {};
}

status graph_run::run_node(state& s, const plan_step& step, const stream_use& lane) {
  if (!step.node || !step.node->enabled) return {};
  if (auto* const on = s.checking_device()) on->set_origin(step.node->origin);
  graph_memory& memory = graphs_of(s).memory;
  const auto run = [&](const auto& work) -> status {
    using kind = std::decay_t<decltype(work)>;
    if constexpr (std::is_same_v<kind, kernel_work>) {
      const auto kernel = s.registered.use_kernel(*s.current, work.function);
      if (!kernel.ok()) return kernel.failure();
      const launch_config config =
          config_of({work.function, work.grid, work.block, nullptr, work.shared_bytes, stream_,
                     work.cooperative(), false, work.cluster()},
                    (*kernel)->attributes);
      return start_kernel(s, **kernel, config, work.parameters, stream_);
    } else if constexpr (std::is_same_v<kind, copy_work>) {
      return copy(s, in_stream(work.request, stream_));
    } else if constexpr (std::is_same_v<kind, fill_work>) {
      const cudaMemsetParams& p = work.asked;
      return fill(s,
                  {p.dst, p.pitch, static_cast<int>(p.value), p.width * p.elementSize, p.height, 1,
                   0, p.elementSize},
                  stream_);
    } else if constexpr (std::is_same_v<kind, record_work>) {
      event_record* const event = find_event(s, work.event);
      if (!event) return invalid_value("a node records an event that was destroyed");
      forget_captured_event(s, work.event);
      return record_event(s, *event, stream_);
    } else if constexpr (std::is_same_v<kind, wait_work>) {
      const event_record* const event = find_event(s, work.event);
      if (!event) return invalid_value("a node waits for an event that was destroyed");
      wait_for_event(s, *event, stream_);
      return {};
    } else if constexpr (std::is_same_v<kind, allocation_work>) {
      const device_address address = address_of(work.asked.dptr);
      memory.set_live(address, true, !is_among(of_->left, address));
      if (auto* const on = s.checking_device())
        on->forget_contents(address, memory.bytes_of(address));
      return {};
    } else if constexpr (std::is_same_v<kind, release_work>) {
      const device_address address = address_of(work.address);
      memory.set_live(address, false, !is_among(of_->taken, address));
      return {};
    } else if constexpr (std::is_same_v<kind, host_work>) {
      // If there is nothing to wait for, the launching thread calls the function without the lock.
      may_delay(s, stream_);
      if (s.order.empty() || !s.order.must_wait(lane)) return host_may_know(s, stream_), status{};
      call_in_stream_order(s, stream_, [work] { work.function(work.data); });
      return {};
    } else if constexpr (std::is_same_v<kind, conditional_work>) {
      return run_conditional(s, step, lane);
    } else if constexpr (std::is_same_v<kind, driver_work>) {
      return work.run(s, work.parameters, stream_);
    } else {
      return {};  // the plan has steps for child graphs
    }
  };
  return std::visit(run, step.node->work);
}

status graph_run::run_conditional(state& s, const plan_step& step, const stream_use& lane) {
  const auto& work = std::get<conditional_work>(step.node->work);
  for (;;) {
    std::uint32_t value = 0;
    s.lane = nullptr;  // other threads may call while this one waits
    s.wait_for_stream(lane);
    status known = s.synchronize();
    if (!known.ok()) return known;
    s.lane = &lane;
    enter_stream(s, stream_);
    known = s.current->read(std::as_writable_bytes(std::span(&value, 1)), work.handle);
    if (!known.ok()) return known;
    std::size_t chosen = value;
    if (work.type == cudaGraphCondTypeIf) chosen = value != 0 ? 0 : 1;
    if (work.type == cudaGraphCondTypeWhile) chosen = value != 0 ? 0 : 1;
    if (chosen >= step.bodies.size()) return {};
    status outcome = run_all(s, step.bodies[chosen], lane);
    if (!outcome.ok() || work.type != cudaGraphCondTypeWhile) return outcome;
  }
}

std::optional<status> release_graph_memory(state& s, void* address) {
  graph_memory& memory = graphs_of(s).memory;
  if (!memory.knows(address_of(address))) return std::nullopt;
  if (!memory.is_live(address_of(address)))
    return invalid_value("cudaFree: this graph memory is not allocated now");
  memory.set_live(address_of(address), false);
  memory.collect(*s.current);
  return status{};
}

void state::release_graphs() {
  if (!graphs) return;
  captures = 0;
  const std::shared_ptr<graph_state> all = std::move(graphs);
  std::vector<graph*> to_delete;
  for (graph* g : all->graphs) {
    const bool captured =
        all->captures &&
        std::any_of(all->captures->streams.begin(), all->captures->streams.end(),
                    [&](const auto& stream) { return stream.second.of->own.get() == g; });
    if (!g->parent && !captured) to_delete.push_back(g);
  }
  for (graph* g : to_delete) delete g;
  if (current) all->memory.give_back_all(*current);
}

}  // namespace stepwise::runtime
