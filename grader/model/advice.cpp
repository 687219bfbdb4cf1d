// Orders the causes that an analysis found, and compares calls by a cause.
#include "grader/model/advice.hpp"

#include <algorithm>
#include <array>

namespace stepwise {
namespace {

constexpr double worth_saying = 1.01;  // least gain to report
constexpr double clear_gain = 1.1;
// The fraction of lanes with a thread that are active, or of a warp's lanes that have a thread.
constexpr double few_lanes = 0.8;
constexpr double much = 0.5;            // fraction of the instructions or of the warp slots
constexpr double a_tenth = 0.1;         // fraction of the stalls or of the sectors
constexpr double short_launch_us = 6;   // an empty launch takes about half of this on an H200
constexpr double clearly_better = 0.9;  // than before the change
constexpr double faster = 0.98;
constexpr double many_rounds = 4;       // waves of blocks: the last wave's idle slots hardly count
constexpr std::size_t most_models = 3;  // of candidates; each takes a second or more
constexpr std::size_t most_stalls = 3;
constexpr double few_of_warp = 0.5;  // lanes with a thread: the first cause, whatever the limit
constexpr std::uint64_t small_block = 64;  // threads; smaller blocks would hardly add warps
constexpr double nearly_all = 0.9;         // fraction of the blocks that the GPU holds at once
// Bytes per thread. The model omits accesses to spilled registers, so nothing else measures them. A
// few accesses may be outside every loop, but many probably are not.
constexpr std::uint64_t some_spills = 16, many_spills = 128;
constexpr double busy_with_atomics = 0.3;  // of the time, by atomics of lanes to one address
// The fraction of blocks that write nothing. It is smaller in a grid that is only rounded up, even
// in two dimensions.
constexpr double many_idle = 0.2;
// Barriers as a fraction of the instructions, and their fraction of the stalls. In a loop over a
// tile, a few instructions per hundred are barriers.
constexpr double many_barriers = 0.15, long_at_barriers = 0.3;

double real(std::uint64_t n) { return static_cast<double>(n); }

struct cause_text {
  const char* name;
  const char* unit;
};
constexpr std::array<cause_text, causes> all_causes = {{
    {"one thread", "Empty warp slots"},
    {"partly filled warps", "Idle lanes of 32"},
    {"one block", "Empty warp slots"},
    {"idle blocks", "Blocks that write nothing"},
    {"uncoalesced accesses", "Wasted sectors"},
    {"bank conflicts", "Wasted wavefronts"},
    {"atomics at one address", "Busy time of atomics"},
    {"arrays in local memory", "Sectors of local memory"},
    {"spilled registers", "Bytes of spilled registers"},
    {"traffic at L1 and shared memory", "Busy time of the L1/shared-memory pipe"},
    {"traffic at L2", "Bytes at L2"},
    {"traffic at DRAM", "Bytes at DRAM"},
    {"atomics", "Busy time of atomics"},
    {"divergence", "Idle lanes of 32"},
    {"integer work", "Integer instructions of warps"},
    {"many instructions", "Machine instructions of warps"},
    {"arithmetic", "Busy time of the busiest pipe"},
    {"double arithmetic", "Double instructions of warps"},
    {"short launches", "Launches"},
    {"a small grid", "Empty warp slots"},
    {"few blocks", "Empty warp slots"},
    {"short blocks", "Blocks"},
    {"low occupancy", "Empty warp slots"},
    {"waiting at barriers", "Time, by the share of stalls at barriers"},
    {"waiting for memory", "Time, by the share of stalls for memory"},
    {"waiting for shared memory", "Time, by the share of stalls for shared memory"},
    {"waiting for special functions", "Time, by the share of stalls for special functions"},
    {"waiting for special functions or shared memory",
     "Time, by the share of stalls for special functions and shared memory"},
    {"dependent arithmetic", "Time, by the share of stalls for arithmetic"},
    {"waiting for products", "Time, by the share of stalls for arithmetic"},
    {"waiting for bulk copies", "Time, by the share of stalls for memory"},
    {"a busy pipe", "Time, by the share of stalls for a busy pipe"},
    {"too many requests", "Time, by the share of stalls for memory throttle"},
    {"instruction fetch", "Time, by the share of stalls for instructions"},
}};

cause cause_of(part p) {
  switch (p) {
    case part::l2:
      return cause::l2_traffic;
    case part::dram:
      return cause::dram_traffic;
    case part::atomics:
      return cause::atomics;
    default:
      return cause::l1_traffic;
  }
}

std::optional<cause> cause_of(stall s) {
  switch (s) {
    case stall::memory_dependency:
      return cause::memory_latency;
    case stall::shared_dependency:
      return cause::shared_latency;
    case stall::special_functions:
      return cause::special_latency;
    case stall::execution_dependency:
      return cause::dependencies;
    case stall::synchronization:
      return cause::barriers;
    case stall::memory_throttle:
      return cause::throttle;
    case stall::pipe_busy:
      return cause::busy_pipe;
    case stall::instruction_fetch:
      return cause::fetch;
    case stall::not_selected:
      return {};  // there was enough work
  }
  return {};
}

std::optional<stall> stall_of(cause c) {
  if (c == cause::shared_or_special_latency) return stall::shared_dependency;
  if (c == cause::products) return stall::execution_dependency;
  if (c == cause::bulk_copies) return stall::memory_dependency;
  for (int n = 0; n < stalls; ++n)
    if (const auto s = static_cast<stall>(n); cause_of(s) == c) return s;
  return {};
}

bool has_products(const kernel_analysis& a) { return a.kernel->total.async.operand_wavefronts > 0; }

// The causes that an experiment of the model removes.
std::vector<found_cause> gained(const kernel_analysis& a) {
  std::vector<found_cause> found;
  const auto add = [&](cause what, double gain) {
    const bool is_known = std::ranges::find(found, what, &found_cause::what) != found.end();
    if (!is_known && (gain >= worth_saying || a.gains.empty())) found.push_back({what, gain});
  };
  // In source order, because the first line should be fixed first.
  for (const costly_line& l : a.wasteful) {
    switch (l.cost.why()) {
      case waste_cause::uncoalesced:
        add(cause::uncoalesced, a.gain_of(what_if::perfect_coalescing));
        break;
      case waste_cause::bank_conflicts:
        add(cause::bank_conflicts, a.gain_of(what_if::no_bank_conflicts));
        break;
      case waste_cause::same_address:
        if (is_shared(l.cost.what)) add(cause::same_address, a.gain_of(what_if::no_bank_conflicts));
        break;
      case waste_cause::local_memory:
        add(cause::local_arrays, a.gain_of(what_if::no_local_memory));
        break;
    }
  }
  if (a.divergent > 0 && (!a.gains.empty() || a.active < few_lanes))
    add(cause::divergence, a.gain_of(what_if::no_divergence));
  if (!a.gains.empty()) {
    const double more =
        std::max(a.gain_of(what_if::full_occupancy), a.gain_of(what_if::twice_the_registers));
    if (a.theoretical_occupancy < 1 && !has_products(a)) add(cause::occupancy, more);
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, &found_cause::gain);
  return found;
}

bool meets_at_one_address(const kernel_analysis& a) {
  return std::ranges::any_of(a.wasteful, [](const costly_line& l) {
    return l.cost.what == access::global_atomic && l.cost.why() == waste_cause::same_address;
  });
}

void add_memory(std::vector<cause>& to, const kernel_analysis& a) {
  const cause busiest = cause_of(a.busy.memory_part);
  to.push_back(busiest == cause::atomics && meets_at_one_address(a) ? cause::same_address
                                                                    : busiest);
}

void add_compute(std::vector<cause>& to, const kernel_analysis& a) {
  if (a.active < few_lanes) to.push_back(cause::divergence);
  if (a.busy.compute_part == part::fma) {
    to.push_back(cause::arithmetic);
  } else {
    if (a.integer_share() > much) to.push_back(cause::integer_work);
    to.push_back(a.busy.compute_part == part::issue ? cause::instructions : cause::integer_work);
  }
}

bool has_short_launches(const kernel_profile& k) {
  return k.launches > 0 && k.timing.us / real(k.launches) < short_launch_us;
}

cause few_blocks_of(const kernel_analysis& a) {
  return volume(a.kernel->block) > small_block ? cause::small_grid : cause::few_blocks;
}

// Hardware that the launch's shape leaves idle, no matter what the kernel does. The limits of the
// busy multiprocessors do not reflect it.
std::vector<cause> idle_by_shape(const kernel_analysis& a) {
  const std::uint64_t blocks = volume(a.kernel->grid), threads = volume(a.kernel->block);
  if (blocks * threads == 1) return {cause::one_thread};
  std::vector<cause> found;
  const double fill = a.kernel->warp_fill();
  if (fill <= few_of_warp || (fill <= few_lanes && a.limit != limiter::memory))
    found.push_back(cause::partial_warps);
  if (blocks == 1 && a.multiprocessors > 1) found.push_back(cause::one_block);
  if (a.idle_blocks >= much) found.push_back(cause::idle_blocks);
  return found;
}

// Barriers so frequent that they cause the other limits, such as the requests between them.
bool has_barrier_in_loop(const kernel_analysis& a) {
  return a.share_of(pipe::barrier) > many_barriers &&
         a.stall_of(stall::synchronization) > long_at_barriers;
}

bool waits_for_doubles(const kernel_analysis& a) {
  return a.share_of(pipe::fp64) > a_tenth && a.stall_of(stall::pipe_busy) > a_tenth;
}

// A kernel with wgmma or bulk copies has long waits by design, and other means to hide them.
cause with_units(cause c, const kernel_analysis& a) {
  if (c == cause::dependencies && has_products(a)) return cause::products;
  const bool copies = a.kernel->total.bulk_load.sectors > a.kernel->total.global_load.sectors / 2;
  return c == cause::memory_latency && copies ? cause::bulk_copies : c;
}

// What warps wait for, the longest stalls first.
void add_stalls(std::vector<cause>& to, const kernel_analysis& a) {
  std::size_t taken = 0;
  for (const stall_share& s : a.stalled) {
    auto why = cause_of(s.why);
    if (why == cause::shared_latency && a.kernel->timing.special_in_shared)
      why = cause::shared_or_special_latency;
    if (why == cause::busy_pipe && waits_for_doubles(a)) continue;
    if (!why || s.share < a_tenth || taken == most_stalls) continue;
    to.push_back(with_units(*why, a));
    ++taken;
  }
}

void add_latency(std::vector<cause>& to, const kernel_analysis& a) {
  if (has_short_launches(*a.kernel)) to.push_back(cause::launches);
  const bool has_few = a.blocks_per_place > 0 && a.blocks_per_place < nearly_all;
  if (has_few && a.blocks_per_place < much) to.push_back(few_blocks_of(a));
  if (a.blocks_per_place > many_rounds && a.achieved_occupancy < much * a.theoretical_occupancy)
    to.push_back(cause::short_blocks);
  add_stalls(to, a);
  if (has_few) to.push_back(few_blocks_of(a));
  const bool is_low = a.theoretical_occupancy > 0 && a.theoretical_occupancy < much;
  if (is_low && !has_products(a)) to.push_back(cause::occupancy);
}

}  // namespace

const char* name_of(cause c) { return all_causes[static_cast<std::size_t>(c)].name; }
const char* unit_of(cause c) { return all_causes[static_cast<std::size_t>(c)].unit; }

std::vector<found_cause> causes_of(const kernel_analysis& a) {
  const bool memory = a.limit == limiter::memory || a.limit == limiter::both;
  const auto is_foremost = [&](const found_cause& f) {
    if (f.what == cause::divergence && !memory && a.active < few_lanes) return true;
    const bool of_branch = f.what == cause::occupancy    ? a.limit == limiter::latency
                           : f.what == cause::divergence ? false
                                                         : memory || a.gains.empty();
    return of_branch || f.gain >= clear_gain;
  };
  std::vector<found_cause> found, minor;
  if (waits_for_doubles(a)) found.push_back({cause::doubles, 1});
  for (const cause c : idle_by_shape(a)) found.push_back({c, 1});
  if (has_barrier_in_loop(a)) found.push_back({cause::barriers, 1});
  if (a.idle_blocks >= many_idle && a.idle_blocks < much) minor.push_back({cause::idle_blocks, 1});
  const std::uint64_t spilled = a.kernel->spill_bytes;
  if (spilled >= some_spills)
    (spilled >= many_spills ? found : minor).push_back({cause::spills, 1});
  for (const found_cause& f : gained(a)) (is_foremost(f) ? found : minor).push_back(f);
  std::vector<cause> others;
  // If most multiprocessors have no block, this applies regardless of the others' limit.
  const bool is_short = a.limit == limiter::latency && has_short_launches(*a.kernel);
  if (real(volume(a.kernel->grid)) < much * a.multiprocessors && !is_short)
    others.push_back(few_blocks_of(a));
  if (meets_at_one_address(a) &&
      (a.gains.empty() ||
       a.kernel->timing.busy[static_cast<int>(part::atomics)] > busy_with_atomics))
    others.push_back(cause::same_address);
  // Instructions alone explain the time only if their units are almost always busy.
  if (a.limit == limiter::compute && !a.is_nearly_full()) add_stalls(others, a);
  if (a.limit == limiter::memory || a.limit == limiter::both) add_memory(others, a);
  if (a.limit == limiter::compute || a.limit == limiter::both) add_compute(others, a);
  if (a.limit == limiter::latency) add_latency(others, a);
  if (found.empty() && minor.empty() && others.empty()) others.push_back(cause::memory_latency);
  const auto has = [&](cause c) {
    return std::ranges::find(found, c, &found_cause::what) != found.end();
  };
  const auto add = [&](const found_cause& f) {
    // The cause one_thread or one_block already covers a small grid.
    const bool is_named = (f.what == cause::small_grid || f.what == cause::few_blocks) &&
                          (has(cause::one_thread) || has(cause::one_block));
    if (!is_named && !has(f.what)) found.push_back(f);
  };
  for (const cause c : others) add({c, 1});
  for (const found_cause& f : minor) add(f);
  return found;
}

double time_us(const std::vector<kernel_profile>& call) {
  double us = 0;
  for (const kernel_profile& k : call) us += k.timing.us;
  return us;
}

double figure_of(cause c, const std::vector<kernel_profile>& call) {
  double sum = 0;
  for (const kernel_profile& k : call) {
    const double all = k.timing.counted > 0 ? 1 / k.timing.counted : 1;
    const kernel_analysis a = analyse(k, k.timing.us, 1);
    const auto busy_us = [&](part p) { return k.timing.us * k.timing.busy[static_cast<int>(p)]; };
    const auto wasted = [&](waste_cause why) {
      std::uint64_t waste = 0;
      for (const costly_line& l : a.accesses)
        if (l.cost.why() == why) waste += l.cost.waste();
      return all * real(waste);
    };
    if (const auto s = stall_of(c)) {
      sum += k.timing.us * a.stall_of(*s);
      continue;
    }
    switch (c) {
      case cause::uncoalesced:
        sum += wasted(waste_cause::uncoalesced);
        break;
      case cause::bank_conflicts:
        sum += wasted(waste_cause::bank_conflicts);
        break;
      case cause::spills:
        sum += real(k.launches * volume(k.grid) * volume(k.block) * k.spill_bytes);
        break;
      case cause::local_arrays:
        sum += all * real(k.total.local_load.sectors + k.total.local_store.sectors);
        break;
      case cause::l1_traffic:
        sum += busy_us(part::l1_pipe);
        break;
      case cause::l2_traffic:
        sum += a.bytes.l2;
        break;
      case cause::dram_traffic:
        sum += a.bytes.dram;
        break;
      case cause::same_address:
      case cause::atomics:
        sum += busy_us(part::atomics);
        break;
      case cause::partial_warps:
      case cause::divergence:  // lanes of an average op, weighted by time
        sum += (32 - a.lanes) * k.timing.us / time_us(call);
        break;
      case cause::integer_work:
        sum += all * real(k.total.instructions[static_cast<int>(pipe::integer)].warps);
        break;
      case cause::doubles:
        sum += all * real(k.total.instructions[static_cast<int>(pipe::fp64)].warps);
        break;
      case cause::instructions:
        sum += k.timing.instructions;
        break;
      case cause::arithmetic:
        sum += k.timing.us * a.busy.compute;
        break;
      case cause::launches:
        sum += real(k.launches);
        break;
      case cause::idle_blocks:
        sum += k.timing.idle_blocks;
        break;
      case cause::short_blocks:
        sum += real(k.launches * volume(k.grid));
        break;
      case cause::one_thread:
      case cause::one_block:
      case cause::small_grid:
      case cause::few_blocks:
      case cause::occupancy:
        sum += (1 - a.achieved_occupancy) * k.most_warps * k.timing.us / time_us(call);
        break;
      default:
        break;
    }
  }
  return sum;
}

bool fixes(cause c, const std::vector<kernel_profile>& before,
           const std::vector<kernel_profile>& after) {
  if (before.empty() || after.empty()) return false;
  return time_us(after) < faster * time_us(before) &&
         figure_of(c, after) < clearly_better * figure_of(c, before);
}

std::vector<const step*> steps_after(const lab& l, const step* at,
                                     const std::function<bool(const step&)>& is_faster) {
  while (at != nullptr && !l.may_help(at->name)) at = &find_step(l, at->over);
  std::vector<const step*> after;
  bool behind = false;
  for (const step& s : l.steps) {
    if (!l.may_help(s.name)) continue;
    if (behind && (at != nullptr || is_faster(s))) after.push_back(&s);
    behind = behind || (at != nullptr ? &s == at : s.name == l.skeleton);
  }
  return after;
}

std::optional<suggestion> suggest(
    const std::vector<const step*>& candidates, const std::vector<found_cause>& found,
    const std::vector<kernel_profile>& before,
    const std::function<std::vector<kernel_profile>(const step&)>& model) {
  if (candidates.empty()) return {};
  suggestion s;
  s.next = candidates.front();
  std::vector<std::vector<kernel_profile>> calls;
  const auto take = [&](std::size_t n, cause c) {
    s.fixing = candidates[n];
    s.fixed = c;
    s.fixing_call = calls[n];
    s.next_call = calls[0];
    return s;
  };
  for (std::size_t n = 0; n < std::min(candidates.size(), most_models); ++n) {
    calls.push_back(model(*candidates[n]));
    if (!found.empty() && fixes(found[0].what, before, calls[n])) return take(n, found[0].what);
  }
  for (const found_cause& f : found)
    for (std::size_t n = 0; n < calls.size(); ++n)
      if (fixes(f.what, before, calls[n])) return take(n, f.what);
  s.next_call = calls[0];
  return s;
}

}  // namespace stepwise
