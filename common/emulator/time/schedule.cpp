// The order of a run: the order of the machine code if it is known, otherwise a list schedule, in
// which instructions on the longest path go first.
#include "common/emulator/time/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <span>
#include <unordered_map>

namespace stepwise::emulator {
namespace {

// This is an assumption, because ptxas does not know where a global load will find its bytes,
// either.
constexpr double assumed_global_cycles = 300;

struct node {
  double latency = 0;
  double priority = 0;  // cycles from its issue to the end of the run
  std::uint32_t waiting = 0;
  double ready = 0;
  std::vector<std::uint32_t> after;  // that need its result
  std::vector<std::uint32_t> later;  // that only come later
  std::uint32_t consumers = 0;       // not yet issued
};

class run_scheduler {
 public:
  run_scheduler(const code_costs& code, const gpu_costs& costs, straight_run& run)
      : code_(code), costs_(costs), run_(run), length_(run.end - run.first) {}

  void order() {
    find_places();
    build();
    if (in_machine_order_) return pick_by_places();
    find_priorities();
    pick();
  }

 private:
  const instruction_cost& at(std::uint32_t n) const { return code_.at[run_.first + n % length_]; }

  // --- the machine code's own order ---

  // Each execution of an instruction in the run is one of the copies of its machine instructions;
  // the last machine instruction of a copy counts. If there are more copies than are scheduled
  // together (a loop unrolled by four, and a copy for the rest), the closest copies are used.
  void find_places() {
    std::vector<std::vector<std::uint32_t>> of_copy(length_);  // an instruction's places, by copy
    std::uint32_t most = run_.copies;
    for (std::uint32_t n = 0; n < length_; ++n) {
      most = std::max(most, copies_of(n));
      if (is_in_equal_parts(n)) of_copy[n] = ends_of_parts(n);
    }
    for (std::uint32_t n = 0; n < length_; ++n)
      if (at(n).places != 0 && !is_in_equal_parts(n))
        of_copy[n] = matching_places(n, nearest_in_equal_parts(n));
    place_.assign(std::size_t{length_} * run_.copies, no_place);
    double best = no_place;
    std::vector<double> tried(place_.size(), no_place);
    for (std::uint32_t skip = 0; skip + run_.copies <= most; ++skip) {
      double least = no_place, last = 0;
      for (std::uint32_t n = 0; n < tried.size(); ++n) {
        const std::vector<std::uint32_t>& all = of_copy[n % length_];
        if (all.empty()) continue;
        tried[n] = all[std::min<std::size_t>(n / length_ + skip, all.size() - 1)];
        least = std::min(least, tried[n]);
        last = std::max(last, tried[n]);
      }
      if (least == no_place) return;  // the machine code is unknown
      if (last - least >= best) continue;
      best = last - least;
      place_ = tried;
      in_machine_order_ = true;
    }
  }

  std::uint32_t copies_of(std::uint32_t n) const { return code_.copies[run_.first + n]; }
  std::span<const std::uint32_t> places_of(std::uint32_t n) const {
    return std::span(code_.places).subspan(at(n).first_place, at(n).places);
  }

  // Whether each copy has the same number of its machine instructions.
  bool is_in_equal_parts(std::uint32_t n) const {
    return at(n).places != 0 && at(n).places % copies_of(n) == 0;
  }
  std::vector<std::uint32_t> ends_of_parts(std::uint32_t n) const {
    const std::span<const std::uint32_t> all = places_of(n);
    std::vector<std::uint32_t> ends;
    const std::size_t part = all.size() / copies_of(n);
    for (std::size_t end = part; end <= all.size(); end += part) ends.push_back(all[end - 1]);
    return ends;
  }
  std::uint32_t nearest_in_equal_parts(std::uint32_t n) const {
    for (std::uint32_t away = 1; away < length_; ++away)
      for (const std::uint32_t m : {n - away, n + away})  // below zero is large
        if (m < length_ && copies_of(m) == copies_of(n) && is_in_equal_parts(m)) return m;
    return none;
  }

  // For a line with more machine instructions than copies (a constant is loaded before the loop),
  // chooses for each copy the instruction that best matches those of a neighbour, in order. With
  // fewer machine instructions, one of them serves several copies: the last one before the
  // neighbour's.
  std::vector<std::uint32_t> matching_places(std::uint32_t n, std::uint32_t neighbour) const {
    const std::span<const std::uint32_t> all = places_of(n);
    const std::uint32_t copies = copies_of(n);
    std::vector<std::uint32_t> chosen;
    if (neighbour == none) {
      for (std::size_t copy = 1; copy <= copies; ++copy)
        chosen.push_back(all[std::max<std::size_t>(1, copy * all.size() / copies) - 1]);
      return chosen;
    }
    const std::vector<std::uint32_t> wanted = ends_of_parts(neighbour);
    if (all.size() < copies) {
      for (const std::uint32_t w : wanted)
        chosen.push_back(*(std::max(all.begin() + 1, std::ranges::upper_bound(all, w)) - 1));
      return chosen;
    }
    // The least sum of distances if place p is this copy's, and the place of the previous copy.
    std::vector<std::vector<std::pair<double, std::size_t>>> sums(copies);
    for (std::uint32_t copy = 0; copy < copies; ++copy) {
      std::pair<double, std::size_t> before{copy == 0 ? 0 : no_place, 0};
      for (std::size_t p = 0; p < all.size(); ++p) {
        sums[copy].push_back(
            {before.first + std::abs(double{1} * all[p] - wanted[copy]), before.second});
        if (copy != 0 && sums[copy - 1][p].first < before.first)
          before = {sums[copy - 1][p].first, p};
      }
    }
    std::size_t p = 0;
    for (std::size_t q = 1; q < all.size(); ++q)
      if (sums.back()[q].first < sums.back()[p].first) p = q;
    for (std::uint32_t copy = copies; copy-- > 0; p = sums[copy][p].second)
      chosen.insert(chosen.begin(), all[p]);
    return chosen;
  }

  void pick_by_places() {
    // Takes the lowest place first. An instruction without a place follows those for which it
    // waits.
    using at_place = std::pair<double, std::uint32_t>;
    std::priority_queue<at_place, std::vector<at_place>, std::greater<>> ready;
    const auto push = [&](std::uint32_t n, double from) {
      if (place_[n] == no_place) place_[n] = from;
      ready.push({place_[n], n});
    };
    for (std::uint32_t n = 0; n < nodes_.size(); ++n)
      if (nodes_[n].waiting == 0) push(n, -1);
    run_.order.reserve(nodes_.size());
    while (!ready.empty()) {
      const auto [place, n] = ready.top();
      ready.pop();
      run_.order.push_back(n);
      for (const auto* next : {&nodes_[n].after, &nodes_[n].later})
        for (const std::uint32_t m : *next)
          if (--nodes_[m].waiting == 0) push(m, place);
    }
  }

  // --- our own order, where the machine code is unknown ---

  double latency_of(const instruction_cost& c) const {
    if (c.slots == 0) return 0;
    if (c.kind == step_kind::load || c.kind == step_kind::atomic)
      return c.is_shared ? costs_.shared_latency : assumed_global_cycles;
    return costs_.of[static_cast<int>(c.on)].latency * std::max(1.0F, c.slots);
  }

  // Cycles from the issue of `from` to that of `to`, which needs its result.
  double latency_to(std::uint32_t from, std::uint32_t to) const {
    const double to_branch = at(to).kind == step_kind::branch ? costs_.predicate : 0;
    return nodes_[from].latency == 0 ? 0 : std::max(nodes_[from].latency, to_branch);
  }

  void depend(std::uint32_t from, std::uint32_t to, bool result) {
    (result ? nodes_[from].after : nodes_[from].later).push_back(to);
    ++nodes_[to].waiting;
  }

  static bool stays(const instruction_cost& c) {
    return c.is_memory || c.kind == step_kind::barrier || c.kind == step_kind::arrive ||
           c.kind == step_kind::fence || c.kind == step_kind::wait_copies ||
           is_asynchronous(c.kind);
  }

  // Branches that do not exist in the machine code, although their lines have instructions there.
  // No access moves across a branch, so a branch has become predicates if an access before it has a
  // later place, or an access after it has an earlier place.
  std::vector<bool> find_predicated() const {
    std::vector<bool> predicated(nodes_.size());
    const auto mark = [&](std::uint32_t n, double& bound, bool forwards) {
      const instruction_cost& c = at(n);
      if (place_[n] == no_place) return;
      if (c.kind == step_kind::branch) {
        if (forwards ? bound > place_[n] : bound < place_[n]) predicated[n] = true;
      } else if (stays(c)) {
        bound = forwards ? std::max(bound, place_[n]) : std::min(bound, place_[n]);
      }
    };
    double last = -1, first = no_place;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) mark(n, last, true);
    for (auto n = static_cast<std::uint32_t>(nodes_.size()); n-- > 0;) mark(n, first, false);
    return predicated;
  }

  // The order of memory accesses: stores stay in order and after loads of the same memory, and a
  // load stays after stores. Barriers, atomics, fences and branches keep their place among
  // accesses.
  void build() {
    const std::uint32_t all = length_ * run_.copies;
    nodes_.resize(all);
    std::vector<bool> predicated(all);
    if (in_machine_order_) predicated = find_predicated();
    std::unordered_map<std::uint32_t, std::uint32_t> writer;
    std::uint32_t last_fixed = none, last_store[2] = {none, none};
    std::vector<std::uint32_t> since_fixed, loads_since_store[2];
    std::vector<std::uint32_t>
        moved;  // since the last branch: instructions that must not sink below it
    for (std::uint32_t n = 0; n < all; ++n) {
      const instruction_cost& c = at(n);
      nodes_[n].latency = latency_of(c);
      for (std::uint32_t r = 0; r < c.reads; ++r) {
        const auto from = writer.find(code_.names[c.first_read + r]);
        if (from != writer.end()) {
          depend(from->second, n, true);
          ++nodes_[from->second].consumers;
        }
      }
      const bool ends_copy = c.kind == step_kind::branch && n + 1 != all && (n + 1) % length_ == 0;
      const bool divides =
          c.kind == step_kind::branch && !ends_copy && c.slots > 0 && !predicated[n];
      const bool fixed = divides || c.kind == step_kind::barrier || c.kind == step_kind::arrive ||
                         c.kind == step_kind::fence || c.kind == step_kind::wait_copies ||
                         c.kind == step_kind::commit || c.kind == step_kind::atomic ||
                         is_asynchronous(c.kind) || c.on == unit::exchange || c.on == unit::vote ||
                         c.on == unit::reduce;
      const bool orders_memory =
          fixed && c.on != unit::exchange && c.on != unit::vote && c.on != unit::reduce;
      const bool is_placed = in_machine_order_ && place_[n] != no_place;
      const int memory = c.is_shared ? 1 : 0;
      if (fixed && !(is_placed && !orders_memory)) {
        if (last_any_ != none) depend(last_any_, n, false);
        last_any_ = n;
      }
      if (orders_memory) {
        for (const std::uint32_t m : since_fixed) depend(m, n, false);
        since_fixed.clear();
        last_fixed = n;
        for (int m = 0; m < 2; ++m) {
          last_store[m] = none;
          loads_since_store[m].clear();
        }
      } else if (c.is_memory) {
        if (last_fixed != none) depend(last_fixed, n, false);
        if (is_placed) {
          // ptxas knew which accesses may change places.
        } else if (c.kind == step_kind::load) {
          if (last_store[memory] != none && !c.may_move) depend(last_store[memory], n, false);
          loads_since_store[memory].push_back(n);
        } else {  // stores and copies
          if (last_store[memory] != none) depend(last_store[memory], n, false);
          for (const std::uint32_t l : loads_since_store[memory]) depend(l, n, false);
          loads_since_store[memory].clear();
          last_store[memory] = n;
        }
        since_fixed.push_back(n);
      } else if (c.kind == step_kind::compute && c.slots > 0) {
        since_branch_.push_back(n);
      }
      if (divides) {
        for (const std::uint32_t m : since_branch_) depend(m, n, false);
        since_branch_.clear();
      }
      for (std::uint32_t w = 0; w < c.written; ++w) writer[code_.names[c.first_written + w]] = n;
    }
  }

  void find_priorities() {
    for (std::uint32_t n = static_cast<std::uint32_t>(nodes_.size()); n-- > 0;) {
      node& here = nodes_[n];
      here.priority = here.latency;
      for (const std::uint32_t m : here.after)
        here.priority = std::max(here.priority, latency_to(n, m) + nodes_[m].priority);
      for (const std::uint32_t m : here.later)
        here.priority = std::max(here.priority, at(n).slots + nodes_[m].priority);
    }
  }

  // The registers that early loads may fill: the kernel's registers, minus those that are live
  // through the run.
  unsigned room() const {
    if (code_.registers == 0) return 64;
    std::unordered_map<std::uint32_t, bool> seen;  // written here first
    unsigned living = 0;
    for (std::uint32_t n = 0; n < length_; ++n) {
      const instruction_cost& c = at(n);
      for (std::uint32_t r = 0; r < c.reads; ++r)
        living += seen.try_emplace(code_.names[c.first_read + r], false).second ? 1 : 0;
      for (std::uint32_t w = 0; w < c.written; ++w)
        seen.try_emplace(code_.names[c.first_written + w], true);
    }
    const int left = code_.registers - static_cast<int>(living) - 6;
    return static_cast<unsigned>(std::max(left, 8));
  }

  void pick() {
    const auto lower = [&](std::uint32_t a, std::uint32_t b) {
      return nodes_[a].priority != nodes_[b].priority ? nodes_[a].priority < nodes_[b].priority
                                                      : a > b;
    };
    const auto later = [&](std::uint32_t a, std::uint32_t b) {
      return nodes_[a].ready != nodes_[b].ready ? nodes_[a].ready > nodes_[b].ready : a > b;
    };
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(lower)> now(lower);
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(later)> soon(later);
    std::vector<std::uint32_t> held;  // loads for which there are no registers yet
    for (std::uint32_t n = 0; n < nodes_.size(); ++n)
      if (nodes_[n].waiting == 0) soon.push(n);
    const unsigned most = room();
    unsigned ahead = 0;  // registers of loads whose results are still needed
    std::vector<std::uint32_t> left(nodes_.size());
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) left[n] = nodes_[n].consumers;
    double time = 0;
    run_.order.reserve(nodes_.size());
    while (run_.order.size() < nodes_.size()) {
      while (!soon.empty() && nodes_[soon.top()].ready <= time) {
        now.push(soon.top());
        soon.pop();
      }
      std::uint32_t n = none;
      while (!now.empty() && n == none) {
        const std::uint32_t best = now.top();
        now.pop();
        const instruction_cost& c = at(best);
        if (c.kind == step_kind::load && c.registers != 0 && ahead != 0 &&
            ahead + c.registers > most)
          held.push_back(best);
        else
          n = best;
      }
      if (n == none && !soon.empty()) {
        time = nodes_[soon.top()].ready;
        continue;
      }
      if (n == none) {  // nothing else can run: issue a load without room
        n = *std::min_element(held.begin(), held.end());
        std::erase(held, n);
      }
      issue(n, time, soon);
      const instruction_cost& c = at(n);
      time += c.slots;
      if (c.kind == step_kind::load && left[n] != 0) ahead += c.registers;
      for (const std::uint32_t from : producers_of(n)) {
        if (--left[from] == 0 && at(from).kind == step_kind::load)
          ahead -= std::min<unsigned>(ahead, at(from).registers);
      }
      for (const std::uint32_t h : held) now.push(h);
      held.clear();
    }
  }

  template <class Queue>
  void issue(std::uint32_t n, double time, Queue& soon) {
    run_.order.push_back(n);
    const auto release = [&](std::uint32_t m, double ready) {
      nodes_[m].ready = std::max(nodes_[m].ready, ready);
      if (--nodes_[m].waiting == 0) soon.push(m);
    };
    for (const std::uint32_t m : nodes_[n].after) release(m, time + latency_to(n, m));
    for (const std::uint32_t m : nodes_[n].later) release(m, time);
  }

  const std::vector<std::uint32_t>& producers_of(std::uint32_t n) {
    if (producers_.empty()) {
      producers_.resize(nodes_.size());
      for (std::uint32_t from = 0; from < nodes_.size(); ++from)
        for (const std::uint32_t to : nodes_[from].after) producers_[to].push_back(from);
    }
    return producers_[n];
  }

  static constexpr std::uint32_t none = 0xffffffffU;
  static constexpr double no_place = 1e18;
  bool in_machine_order_ = false;
  std::vector<double> place_;  // by node
  const code_costs& code_;
  const gpu_costs& costs_;
  straight_run& run_;
  const std::uint32_t length_;
  std::vector<node> nodes_;
  std::vector<std::vector<std::uint32_t>> producers_;
  std::vector<std::uint32_t> since_branch_;
  std::uint32_t last_any_ = none;
};

}  // namespace

straight_run schedule(const code_costs& code, const gpu_costs& costs, std::uint32_t first,
                      std::uint32_t end, std::uint32_t copies) {
  straight_run run{first, end, copies, {}};
  run_scheduler(code, costs, run).order();
  return run;
}

}  // namespace stepwise::emulator
