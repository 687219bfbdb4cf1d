// Derives the launch's time from the recorded blocks, and the time of the same work if one thing
// cost nothing. This is done once per launch, so it is optimised less.
#include <algorithm>
#include <cmath>
#include <limits>

#include "common/emulator/time/timer.hpp"

namespace stepwise::emulator {
namespace {

// The share of L2 that keeps the bytes that all multiprocessors read (profile/DESIGN.md).
constexpr double l2_share_for_reads = 2.0 / 3;
constexpr double bytes_of_sector = 32;

// The share of a store's sectors that is written. The number of sectors is an estimate if not all
// sets of the caches were simulated.
double written_share(const site_traffic& t) {
  return std::min(1.0, t.bytes / (bytes_of_sector * t.sectors));
}

bool changes_accesses(const multiprocessor_work& work) {
  for (const block_trace& b : work.trace->blocks)
    for (const warp_trace& w : b.warps)
      for (const recorded_access& a : w.accesses)
        if (work.memory.change(a)) return true;
  return false;
}

}  // namespace

// The launch's work, in multiples of the recorded blocks' work. `share` is the average block's work
// relative to a recorded one's, if not every block ran. The blocks of an early multiprocessor lie
// closer together at the front, so each block represents the blocks nearest to it.
double timer::in_recorded_blocks(double share) const {
  const std::vector<block_trace>& seen = trace_->blocks;
  double recorded = 0, of_launch = 0;
  const auto blocks = static_cast<double>(shape_.blocks);
  for (std::size_t n = 0; n < seen.size(); ++n) {
    double stands_for = blocks / static_cast<double>(seen.size());
    if (!early_.empty()) {
      const auto between = [&](std::size_t a, std::size_t b) {
        return static_cast<double>(seen[a].index + seen[b].index) / 2;
      };
      stands_for =
          (n + 1 == seen.size() ? blocks : between(n, n + 1)) - (n == 0 ? 0 : between(n - 1, n));
    }
    recorded += static_cast<double>(seen[n].instructions);
    of_launch += static_cast<double>(seen[n].instructions) * stands_for;
  }
  if (recorded == 0) return 0;
  return (cuts_ ? of_launch * share : static_cast<double>(run_instructions_)) / recorded;
}

// The whole launch, in multiples of the part that was run.
double timer::scale() const {
  if (!cuts_ || run_instructions_ == 0) return 1;
  double recorded = 0;
  for (const block_trace& b : trace_->blocks) recorded += static_cast<double>(b.instructions);
  return std::max(1.0, recorded * in_recorded_blocks(instruction_share_) /
                           static_cast<double>(run_instructions_));
}

// Data that is read or stored displaces other data in L2, some of which must first be written to
// memory.
timer::room timer::make_room(double read, double stored) {
  const double comes = read + stored, room = costs_.dirty_bytes;
  if (comes <= 0) return {};
  if (room <= 0) return {stored / comes, 1};  // no L2
  const double before = dirty_;
  double written, own = 0;
  if (comes >= room) {
    dirty_ = room * stored / comes;
    own = stored - dirty_;
    written = before + own;
  } else {
    written = comes * before / room;
    dirty_ = before - written + stored;
  }
  return {written / comes, written > 0 ? own / written : 0};
}

std::vector<site_rates> timer::rates(const std::vector<site_traffic>& traffic) {
  double read = 0, stored = 0, allocated = 0;
  const std::vector<double> sectors = whole_sectors(traffic);
  for (std::size_t n = 0; n < traffic.size(); ++n) {
    const site_traffic& t = traffic[n];
    if (t.sectors == 0) continue;
    if (t.is_store)
      stored += sectors[n] * bytes_of_sector * written_share(t);
    else
      read += sectors[n] * t.dram_bytes * t.dram_sectors / t.sectors;
  }
  for (const auto& [base, bytes] : loaded_) allocated += static_cast<double>(bytes);
  const auto l2 = static_cast<double>(model_.l2_bytes);
  // Data that stays in L2 from wave to wave is read from memory once.
  const double again =
      allocated <= l2 * l2_share_for_reads && read > allocated ? allocated / read : 1;
  read *= again;
  const auto [evicted, own] = make_room(read, stored);
  std::vector<site_rates> all(traffic.size());
  for (std::size_t n = 0; n < traffic.size(); ++n) {
    const site_traffic& t = traffic[n];
    site_rates& r = all[n];
    if (t.sectors == 0) continue;
    r.evicted = evicted;
    r.own = own;
    if (t.is_store) {
      r.whole = written_share(t);
    } else {
      r.dram = std::min(1.0, t.dram_sectors / t.sectors * again);
      r.dram_bytes = t.dram_bytes;
      r.shared = t.shared_sectors / t.sectors;
      const auto from = loads_of_.find(static_cast<std::uint32_t>(n));
      const auto before =
          from == loads_of_.end() ? stored_before_.end() : stored_before_.find(from->second);
      if (before != stored_before_.end() &&
          static_cast<double>(before->second) < costs_.dirty_bytes)
        r.dram = 0;  // an earlier launch has just written it
    }
    if (const auto found = atomics_.find(static_cast<std::uint32_t>(n)); found != atomics_.end()) {
      r.hot = found->second.addresses.share_of_most();
      r.hot_line = found->second.lines.share_of_most();
    }
    if (const auto found = reduced_.find(static_cast<std::uint32_t>(n));
        found != reduced_.end() && found->second.size() < few_lines)
      r.imbalance = slice_imbalance(static_cast<double>(found->second.size()), costs_.l2_slices);
  }
  return all;
}

// The launch's work, in multiples of the simulated one, with `share` as above.
double timer::of_a_block(double share) const {
  double recorded = 0, all = 0;
  for (const block_trace& b : trace_->blocks) {
    recorded += static_cast<double>(b.recorded);
    all += static_cast<double>(b.instructions);
  }
  return recorded > 0 ? all / recorded * in_recorded_blocks(share) : 0;
}

// The number of sectors that each site requests. This number is known if all blocks of the
// launch, or nearly all, ran. Otherwise, it is the average of the recorded blocks, because
// truncated blocks have only their first accesses.
std::vector<double> timer::whole_sectors(const std::vector<site_traffic>& traffic) const {
  std::vector<double> seen(traffic.size()), all(traffic.size());
  for (const block_trace& b : trace_->blocks)
    for (const warp_trace& w : b.warps)
      for (const recorded_access& a : w.accesses)
        if (a.site < seen.size()) seen[a.site] += a.sectors;
  constexpr double nearly_all = 1.005;
  const bool is_part = cuts_ && scale() > nearly_all;
  for (std::size_t n = 0; n < traffic.size(); ++n) {
    const bool is_atomic = atomics_.contains(static_cast<std::uint32_t>(n));
    all[n] = is_part && seen[n] > 0 && !is_atomic ? seen[n] * of_a_block(request_share_)
                                                  : traffic[n].sectors * scale();
  }
  return all;
}

// Scales the accesses of the simulated blocks to all blocks. If none of the simulated blocks
// reached a site, the caches' counts of the blocks that did are used. The caches also show what
// atomics read from memory, which the queues omit.
std::vector<site_account> timer::whole(std::vector<site_account> simulated,
                                       const std::vector<site_rates>& rates,
                                       const std::vector<site_traffic>& traffic) const {
  const std::vector<double> sectors = whole_sectors(traffic);
  for (std::size_t n = 0; n < simulated.size(); ++n) {
    site_account& a = simulated[n];
    if (n >= traffic.size()) {
      a *= of_a_block(request_share_);
      continue;
    }
    const site_traffic& t = traffic[n];
    const bool is_atomic = atomics_.contains(static_cast<std::uint32_t>(n));
    a *= a.sectors == 0 || is_atomic ? of_a_block(request_share_) : sectors[n] / a.sectors;
    const bool unseen = a.sectors == 0 && t.sectors > 0;
    if (unseen) {
      a.sectors = sectors[n];
      a.l2_sectors = t.l2_sectors * scale();
      a.l1_hits = a.sectors - a.l2_sectors;
    }
    if ((unseen || is_atomic) && !t.is_store) {
      a.dram_sectors = rates[n].dram * t.sectors * scale();
      a.dram_read_bytes = a.dram_sectors * rates[n].dram_bytes;
    }
  }
  return simulated;
}

// The time of the same work if one thing cost nothing, or if there were more room. Returns nothing
// if that changes nothing, as for a kernel without bank conflicts that is timed without bank
// conflicts.
std::future<double> timer::us_if(what_if e, const multiprocessor_work& work) const {
  multiprocessor_work other = work;
  std::unique_ptr<code_costs> code;
  bool differs = false;
  switch (e) {
    case what_if::no_global_memory:
      other.memory.no_global = true;
      break;
    case what_if::no_arithmetic:
      code = std::make_unique<code_costs>(*code_);
      for (instruction_cost& c : code->at) {
        const bool computes = c.on == unit::fma || c.on == unit::fp64 || c.on == unit::half ||
                              c.on == unit::conversion || c.on == unit::special ||
                              c.on == unit::tensor;
        if (!computes || c.kind != step_kind::compute) continue;
        differs = differs || c.slots != 0;
        c.slots = 0;
      }
      other.code = code.get();
      break;
    case what_if::perfect_coalescing:
      other.memory.ideal_sectors = true;
      break;
    case what_if::no_bank_conflicts:
      other.memory.ideal_wavefronts = true;
      break;
    case what_if::full_occupancy:
      other.resident = shape_.resident_full;
      break;
    case what_if::twice_the_registers:
      other.resident = shape_.resident_more_registers;
      break;
    case what_if::no_local_memory:
      other.memory.no_local = true;
      break;
    case what_if::no_divergence:
      return {};  // the profiler counts lanes (profile/launches.cpp)
  }
  const std::size_t traced = work.trace->blocks.size();
  differs = differs || std::min<std::size_t>(other.resident, traced) !=
                           std::min<std::size_t>(work.resident, traced);
  if (!differs && !changes_accesses(other)) return {};
  return std::async(std::launch::async, [this, other = std::move(other), code = std::move(code)] {
    const multiprocessor_time t = simulate(other, costs_);
    return t.cycles / (costs_.ghz * 1e3);
  });
}

// The time of the recorded multiprocessor, or of the drawn one if that takes longer.
multiprocessor_time timer::of_longest(const multiprocessor_work& work) {
  multiprocessor_time early = simulate(work, costs_);
  if (drawn_trace_.blocks.empty()) return early;
  multiprocessor_work other = work;
  other.trace = &drawn_trace_;
  other.blocks = drawn_trace_.blocks.size();
  multiprocessor_time drawn = simulate(other, costs_);
  if (drawn.cycles <= early.cycles) return early;
  trace_ = &drawn_trace_;
  early_.clear();
  return drawn;
}

// Compares the recorded blocks' traffic from L2 and memory with an average block's. Blocks whose
// neighbours read the same words find these words in the caches, so their pace is not that of a
// block that reads its own words.
timer::traffic_comparison timer::compare_traffic(const multiprocessor_time& t,
                                                 const std::vector<site_rates>& rates,
                                                 const std::vector<site_traffic>& traffic) const {
  constexpr double worth_a_look = 0.1;  // of the time, at the GPU's full rate
  constexpr double fair = 0.9;          // of an average block's bytes
  double l2 = 0, dram = 0, whole_l2 = 0, served = 0, whole_dram = 0, recorded = 0, all = 0;
  for (const block_trace& b : trace_->blocks) {
    recorded += static_cast<double>(b.recorded);
    all += static_cast<double>(b.instructions);
  }
  if (cuts_ || recorded == 0) return {};
  const double times = all / recorded * static_cast<double>(shape_.blocks) /
                       static_cast<double>(trace_->blocks.size());
  for (std::size_t n = 0; n < traffic.size(); ++n) {
    if (atomics_.contains(static_cast<std::uint32_t>(n))) continue;
    whole_l2 += traffic[n].l2_sectors;
    served += traffic[n].l2_sectors * rates[n].served_by_l2();
    whole_dram += rates[n].dram * traffic[n].sectors * rates[n].dram_bytes;
    if (n >= t.sites.size()) continue;
    l2 += t.sites[n].l2_sectors * times;
    dram += t.sites[n].dram_read_bytes * times;
  }
  const double l2_cycles = served * bytes_of_sector / costs_.l2_bytes;
  const double dram_cycles = whole_dram / costs_.dram_read_bytes;
  const double dram_share = dram_cycles > worth_a_look * t.cycles ? dram / whole_dram : 1;
  // Recorded blocks that read their own data from memory are no neighbours that share it. These
  // blocks may still find more in L1 than the other blocks, where the two models of a nearly full
  // L1 differ. In that case, the launch takes at least as long as all its traffic at L2's full
  // rate.
  if (dram_cycles > worth_a_look * t.cycles && dram_share > fair) return {dram_share, l2_cycles};
  return {std::min(dram_share, l2_cycles > worth_a_look * t.cycles ? l2 / whole_l2 : 1), 0};
}

// The recorded blocks' work as a share of an average block's: the least of the shares of
// instructions, of accesses, and of L2 and memory traffic, if that is large. Known only if every
// block ran.
double timer::likeness(double of_traffic) const {
  const std::vector<block_trace>& seen = trace_->blocks;
  if (cuts_ || seen.empty()) return 1;
  const auto share = [&](std::uint64_t block_trace::*what, std::uint64_t all) {
    constexpr std::uint64_t many = 64;  // instructions per access
    if (all * many < run_instructions_) return 1.0;
    double recorded = 0;
    for (const block_trace& b : seen) recorded += static_cast<double>(b.*what);
    return recorded * static_cast<double>(shape_.blocks) /
           (static_cast<double>(seen.size()) * static_cast<double>(all));
  };
  return std::min({1.0, share(&block_trace::instructions, run_instructions_),
                   share(&block_trace::sectors, sectors_),
                   share(&block_trace::shared_wavefronts, shared_wavefronts_), of_traffic});
}

// The time of the block with the most work at the recorded blocks' pace: per cost of its longest
// warp's instructions, per sector, or per wavefront, whichever takes longest. A sector takes at
// most the time at an even share of memory's bandwidth, and a wavefront at most a cycle, because
// recorded blocks with few sectors or wavefronts may be busy with something else. 0 if not every
// block ran.
double timer::longest_block_cycles(const multiprocessor_time& t, std::uint64_t blocks) const {
  if (cuts_) return 0;
  block_work recorded;
  double count = 0;
  for (const block_trace& b : trace_->blocks) {
    const block_work* const work = each_.kept(b.index);
    if (work == nullptr) continue;
    recorded.longest_warp += work->longest_warp;
    recorded.sectors += work->sectors;
    recorded.shared_wavefronts += work->shared_wavefronts;
    ++count;
  }
  if (count == 0) return 0;
  recorded.longest_warp = std::max<std::uint64_t>(recorded.longest_warp, 1);
  // Resident blocks share the multiprocessor's time.
  const auto together = static_cast<double>(std::min<std::uint64_t>(shape_.resident, blocks));
  const double of_one = t.cycles * together / static_cast<double>(blocks);
  const auto at_pace = [&](std::uint64_t block_work::*what, double most_cycles) {
    const auto in_recorded = static_cast<double>(recorded.*what);
    const double pace =
        in_recorded > 0 ? std::min(most_cycles, of_one * count / in_recorded) : most_cycles;
    return static_cast<double>(each_.most().*what) * pace;
  };
  const double sector_cycles = bytes_of_sector * costs_.multiprocessors / costs_.dram_read_bytes;
  return std::max({at_pace(&block_work::longest_warp, std::numeric_limits<double>::max()),
                   at_pace(&block_work::sectors, sector_cycles),
                   at_pace(&block_work::shared_wavefronts, 1)});
}

// The GPU lowers its clock as soon as its tensor cores are busy.
void timer::set_clock() {
  const auto uses_tensor_cores = [&](const launch_trace::run& r) {
    for (std::uint32_t n = r.first; n < r.end; ++n)
      if (code_->at[n].tensor.kind != tensor_work::form::none) return true;
    return false;
  };
  const double ghz = usual_costs_.tensor.ghz;
  const bool is_lower = ghz > 0 && std::ranges::any_of(recorder_.trace().runs, uses_tensor_cores);
  costs_ = is_lower ? usual_costs_.at_clock(ghz) : usual_costs_;
}

launch_time timer::end(const std::vector<site_traffic>& traffic) {
  const std::uint64_t processors = processors_;
  set_clock();
  multiprocessor_work work;
  if (!drawn_.empty()) drawn_trace_ = recorder_.take(drawn_);
  work.trace = trace_;
  work.code = code_;
  work.sites = rates(traffic);
  work.l1_bytes = shape_.l1_bytes;
  work.resident = shape_.resident;
  work.active = static_cast<unsigned>(std::min(processors, shape_.blocks));
  work.all_resident = shape_.blocks <= processors * shape_.resident;
  work.blocks = early_.empty() ? (shape_.blocks + processors - 1) / processors : early_.size();
  work.blocks = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::llround(static_cast<double>(work.blocks) * busy_share_)));
  std::vector<std::future<double>> experiments_us;
  if (how_.experiments)
    for (int e = 0; e < experiments; ++e)
      experiments_us.push_back(us_if(static_cast<what_if>(e), work));
  dirty_ = std::min(dirty_, costs_.dirty_at_rest);
  multiprocessor_time t = of_longest(work);
  launch_time result;
  const traffic_comparison compared = compare_traffic(t, work.sites, traffic);
  if (compared.least_cycles > t.cycles) {
    for (double& share : t.busy) share *= t.cycles / compared.least_cycles;
    t.cycles = compared.least_cycles;
  }
  result.idle_blocks = unwritten_share_ * static_cast<double>(shape_.blocks);
  result.likeness = likeness(compared.likeness);
  result.longest_block_us = longest_block_cycles(t, work.blocks) / (costs_.ghz * 1e3);
  result.us = t.cycles / (costs_.ghz * 1e3);
  // Blocks with hardly any work still start and end.
  const double idle_us =
      idle_share_ * static_cast<double>(shape_.blocks) / (costs_.block_starts * costs_.ghz * 1e3);
  for (double& share : t.busy) share *= result.us / (result.us + idle_us);
  result.us += idle_us;
  result.counted = 1 / scale();
  result.active_warps = t.warp_cycles / std::max(1.0, t.simulated_cycles);
  result.instructions = t.slots * of_a_block(instruction_share_);
  result.sites = whole(std::move(t.sites), work.sites, traffic);
  std::copy(std::begin(t.busy), std::end(t.busy), std::begin(result.busy));
  result.stalled = std::move(t.stalled);
  result.waited_for = std::move(t.waited_for);
  for (auto& e : experiments_us) {
    // Removing work may let warps drift apart and find less in L1, so the time is limited.
    const auto what = static_cast<what_if>(result.experiments_us.size());
    const bool takes_away = what != what_if::full_occupancy && what != what_if::twice_the_registers;
    const double us = e.valid() ? e.get() + idle_us : result.us;
    result.experiments_us.push_back(takes_away ? std::min(us, result.us) : us);
  }
  return result;
}

}  // namespace stepwise::emulator
