// Advice for threads that pass data by a flag or a lock, but lack a fence.
//
// idea    The kernel's text shows the intent: a strong write follows the earlier access (the flag
//         is set, the lock is released). The later access is preceded by a strong read of the same
//         variable, on which a branch depends (the wait, taking the lock). There is a path from the
//         earlier access to the strong write, and one from the strong read to the later access. At
//         least one of the two has no fence, or only a fence whose scope is too narrow.
#include <algorithm>
#include <set>

#include "common/emulator/check/advice/race_report.hpp"
#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::size_t most_candidates = 64;  // strong accesses tried as a flag or lock

// The scope of a fence; none if the instruction is not a fence.
std::optional<sync_scope> fence_scope(const ptx::instruction& i) {
  if (i.opcode != "membar" && i.opcode != "fence") return std::nullopt;
  if (ptx::has_modifier(i, "proxy") || ptx::has_modifier(i, "mbarrier_init")) return std::nullopt;
  return ptx::has_modifier(i, "cta") ? sync_scope::block : sync_scope::system;
}

bool intersect(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::any_of(
      a, [&](const std::string& name) { return std::ranges::binary_search(b, name); });
}

// Whether a test lies in a loop that ends before an access.
bool waits_at(const control_flow& f, std::int32_t test, std::int32_t access) {
  const auto block = [&](std::int32_t n) { return f.block_of[static_cast<std::size_t>(n)]; };
  const std::uint32_t loop = f.blocks[block(test)].loop;
  return loop != no_index && !std::ranges::binary_search(f.loops[loop].blocks, block(access));
}

}  // namespace

// The fences on the paths between two instructions of the same function.
class race_report::fence_paths {
 public:
  enum class state : std::uint8_t { unreachable, fenced, narrow, missing };
  struct answer {
    state is;
    std::int32_t fence = -1;  // the fence that is too narrow
  };

  fence_paths(const program& code, const program_function& f, function_flow& flow, bool wide)
      : code_(code), function_(f), flow_(flow), wide_(wide) {}

  answer between(std::int32_t from, std::int32_t to) {
    if (!reaches(from, to, [](auto) { return false; })) return {state::unreachable};
    if (!reaches(from, to, [&](auto scope) { return scope && is_enough(*scope); }))
      return {state::fenced};
    std::int32_t narrow = -1;
    const bool open = reaches(
        from, to, [](auto scope) { return scope.has_value(); }, &narrow);
    return open ? answer{state::missing} : answer{state::narrow, narrow};
  }
  bool reaches(std::int32_t from, std::int32_t to) {
    return reaches(from, to, [](auto) { return false; });
  }
  bool is_enough(sync_scope s) const { return !wide_ || s != sync_scope::block; }

 private:
  // Whether a path leads from `from`, which is not a branch, to `to` without passing an instruction
  // that stops it. `stopped` is set to the first such instruction.
  template <class Stops>
  bool reaches(std::int32_t from, std::int32_t to, Stops stops, std::int32_t* stopped = nullptr) {
    const control_flow& flow = flow_.flow;
    std::set<std::uint32_t> seen;
    std::vector<std::int32_t> open{from + 1};
    const auto size = static_cast<std::int32_t>(flow.block_of.size());
    while (!open.empty()) {
      std::int32_t n = open.back();
      open.pop_back();
      if (n >= size) continue;
      const basic_block& b = flow.blocks[flow.block_of[static_cast<std::size_t>(n)]];
      const auto end = static_cast<std::int32_t>(b.end);
      bool passes = true;
      for (; passes && n < end; ++n) {
        if (n == to) return true;
        passes = !stops(scope_at(n));
        if (!passes && stopped != nullptr && *stopped < 0) *stopped = n;
      }
      if (!passes) continue;
      for (const std::uint32_t next : b.successors)
        if (seen.insert(next).second)
          open.push_back(static_cast<std::int32_t>(flow.blocks[next].first));
    }
    return false;
  }

  // A call counts as the widest fence in the called function.
  std::optional<sync_scope> scope_at(std::int32_t n) {
    const ptx::instruction& i = flow_.body.instructions[static_cast<std::size_t>(n)];
    if (i.opcode != "call") return fence_scope(i);
    std::optional<sync_scope> widest;
    for (const program_function& f : code_.functions) {
      const bool called = std::ranges::any_of(i.operands, [&](const ptx::operand& o) {
        return &f != &function_ && f.function != nullptr && o.name == f.function->name;
      });
      if (!called || f.body == nullptr) continue;
      for (const ptx::instruction& inner : f.body->instructions)
        if (const auto s = fence_scope(inner); s && (!widest || *s > *widest)) widest = s;
    }
    return widest;
  }

  const program& code_;
  const program_function& function_;
  function_flow& flow_;
  bool wide_;  // the threads are in different blocks
};

// A strong access that may set or test a flag, and the fence between it and the data access.
struct race_report::flag_access {
  const access_site* site;
  fence_paths::answer fence;
  std::vector<std::string> bases;
};

std::vector<race_report::flag_access> race_report::flag_accesses(fence_paths& paths,
                                                                 std::uint32_t function,
                                                                 std::int32_t data, bool writes) {
  const register_flow& values = evidence_.flow_of(evidence_.code->functions[function]).values();
  std::vector<const access_site*> strong;
  for (const access_site& s : evidence_.code->accesses) {
    const bool may_be = writes ? s.kind != access_kind::load : s.kind != access_kind::store;
    if (s.function == function && s.order != memory_order::weak && s.instruction >= 0 &&
        s.instruction != data && may_be && strong.size() < most_candidates)
      strong.push_back(&s);
  }
  std::set<std::int32_t> deciding;
  for (std::int32_t n = 0; !writes && !strong.empty() && n < values.size(); ++n) {
    const ptx::instruction& i = values.at(n);
    const bool stores = i.opcode == "st" && ptx::space_of(i) == ptx::state_space::shared;
    if (!stores && !ptx::is_branch(i)) continue;
    const auto from = stores ? values.of(i.operands.back()) : values.of_guard(n);
    // One thread may read for its block, and pass on the value through another variable.
    for (const access_site* s : strong)
      if (from.contains(s->instruction) &&
          (!stores || !intersect(values.bases_of(n), values.bases_of(s->instruction))))
        deciding.insert(s->instruction);
  }
  std::vector<flag_access> found;
  for (const access_site* flag : strong) {
    const access_site& s = *flag;
    if (!writes && !deciding.contains(s.instruction)) continue;
    auto fence = writes ? paths.between(data, s.instruction) : paths.between(s.instruction, data);
    if (fence.is == fence_paths::state::unreachable) continue;
    const bool orders = s.order == memory_order::acquire_release ||
                        s.order == (writes ? memory_order::release : memory_order::acquire);
    if (!paths.is_enough(s.scope))
      fence = {fence_paths::state::narrow, s.instruction};
    else if (orders)
      fence = {fence_paths::state::fenced};
    found.push_back({&s, fence, values.bases_of(s.instruction)});
  }
  return found;
}

// Empty if the kernel has no such flag or lock, or if it does not lack a fence.
std::string race_report::missing_fence_advice(const lane_access& t, race_between who,
                                              std::uint32_t other_site) {
  if (who == race_between::streams || who == race_between::copy || who == race_between::one_store ||
      other_site == no_site || t.number >= evidence_.code->accesses.size() ||
      other_site >= evidence_.code->accesses.size())
    return {};
  const access_site& earlier = evidence_.site_at(other_site);
  // Two strong accesses race for another reason: their scopes, or lanes assumed to run in lockstep.
  if (earlier.order != memory_order::weak && t.site->order != memory_order::weak) return {};
  const std::uint32_t function = t.site->function;
  if (earlier.function != function || earlier.instruction < 0 || t.site->instruction < 0) return {};
  function_flow& flow = evidence_.flow_of(evidence_.code->functions[function]);
  fence_paths paths(*evidence_.code, evidence_.code->functions[function], flow,
                    who == race_between::blocks);
  const auto sets = flag_accesses(paths, function, earlier.instruction, true);
  if (sets.empty()) return {};
  const auto tests = flag_accesses(paths, function, t.site->instruction, false);
  // No block sees another block's shared memory. Within a block, a variable that is tested once is
  // not a flag that another thread waits for, so a barrier is missing rather than a fence.
  const auto can_order = [&](const flag_access& set, const flag_access& test) {
    if (who != race_between::blocks)
      return set.site == test.site || test.site->kind == access_kind::atomic ||
             waits_at(flow.flow, test.site->instruction, t.site->instruction);
    const auto& instructions = flow.body.instructions;
    return ptx::space_of(instructions[static_cast<std::size_t>(test.site->instruction)]) !=
           ptx::state_space::shared;
  };
  const flag_access *set = nullptr, *test = nullptr;
  using enum fence_paths::state;
  // The pair that needs the fewest fences and, among equals, is nearest in the order of the text.
  std::tuple<int, int, std::int32_t> best{3, 0, 0};
  for (const flag_access& w : sets) {
    for (const flag_access& r : tests) {
      const int open = (w.fence.is != fenced) + (r.fence.is != fenced);
      // A counter that only hands out slots is read and written by one instruction.
      const bool only_counts = w.site == r.site && earlier.instruction == t.site->instruction;
      if (open == 0 || only_counts || !intersect(w.bases, r.bases) || !can_order(w, r)) continue;
      const std::int32_t set_after = w.site->instruction - earlier.instruction,
                         test_before = t.site->instruction - r.site->instruction;
      const std::tuple<int, int, std::int32_t> rank{
          open, (set_after < 0) + (test_before < 0) + (w.site == r.site),
          std::abs(set_after) + std::abs(test_before)};
      if (rank < best) best = rank, set = &w, test = &r;
    }
  }
  return set == nullptr ? "" : fence_words(t, earlier, *set, *test, who);
}

std::string race_report::fence_words(const lane_access& t, const access_site& earlier,
                                     const flag_access& set, const flag_access& test,
                                     race_between who) {
  using enum fence_paths::state;
  const std::uint32_t function = t.site->function;
  function_flow& flow = evidence_.flow_of(evidence_.code->functions[function]);
  const auto line = [&](std::int32_t n) {
    const int number = evidence_.source.of(*evidence_.code, function, n).line;
    return number == 0 ? std::string() : " at line " + std::to_string(number);
  };
  const auto block = [&](std::int32_t n) {
    return flow.flow.block_of[static_cast<std::size_t>(n)];
  };
  const bool waits = waits_at(flow.flow, test.site->instruction, t.site->instruction);
  const auto guards = [&](std::int32_t data) {
    return flow.flow.dominates(block(test.site->instruction), block(data));
  };
  const bool is_lock = set.site != test.site && test.site->kind == access_kind::atomic &&
                       guards(earlier.instruction) && guards(t.site->instruction);
  const std::string fence =
      who == race_between::blocks ? "__threadfence()" : "__threadfence_block()";
  const auto widen = [&](const flag_access& a) {
    return a.fence.fence == a.site->instruction
               ? "give the access" + line(a.fence.fence) + " a scope that includes all blocks"
               : "use __threadfence() instead of the fence" + line(a.fence.fence) +
                     ", which orders accesses only within one block";
  };
  const bool counts = set.site == test.site;
  const auto here = [&](const flag_access& a) { return line(a.site->instruction); };
  std::string before, after;
  const auto is_fence = [](const flag_access& a) {
    return a.fence.is == narrow && a.fence.fence != a.site->instruction;
  };
  if (is_fence(set) && is_fence(test) && set.fence.fence != test.fence.fence)
    return "Use __threadfence() instead of the fences" + line(set.fence.fence) + " and" +
           line(test.fence.fence) + ": they order accesses only within one block.";
  if (set.fence.is == narrow)
    before = widen(set);
  else if (set.fence.is == missing)
    before = is_lock ? "before the lock is released" + here(set)
                     : std::string("between the ") +
                           (earlier.kind == access_kind::load ? "read" : "write") +
                           line(earlier.instruction) + " and the " +
                           (counts ? "atomic operation" : "write of the flag") + here(set);
  if (test.fence.is == narrow && test.fence.fence != set.fence.fence)
    after = widen(test);
  else if (test.fence.is == missing)
    after = (is_lock  ? "after the lock is taken"
             : counts ? "after the atomic operation"
             : waits  ? "after the wait"
                      : "after the test of the flag") +
            here(test);
  // In the order in which a thread reaches them.
  const flag_access *first = &set, *second = &test;
  if (is_lock) std::swap(first, second), std::swap(before, after);
  if (first->fence.is == missing) before = "put " + fence + " " + before;
  if (second->fence.is == missing)
    after = (first->fence.is == missing ? "another one " : "put " + fence + " ") + after;
  std::string text = before + (before.empty() || after.empty() ? "" : ", and ") + after;
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  const bool is_flag = !is_lock && !counts;
  if (is_flag && set.fence.is == fenced && test.fence.is == missing)
    text += ", or load the flag with cuda::atomic_ref and memory_order_acquire";
  if (is_flag && test.fence.is == fenced && set.fence.is == missing)
    text += ", or store the flag with cuda::atomic_ref and memory_order_release";
  return text + ".";
}

}  // namespace stepwise::emulator
