// Sums, fractions and orders of counted and modelled figures.
#include "grader/model/analysis.hpp"

#include <algorithm>
#include <cmath>

namespace stepwise {
namespace {

constexpr double wasteful_from = 1.25;  // as in common/report/profile_text
constexpr double much_local = 0.1;      // fraction of the sectors
constexpr double sector_bytes = 32, wavefront_bytes = 128;

double quotient(double part, double of) { return of > 0 ? part / of : 0; }
double real_of(std::uint64_t n) { return static_cast<double>(n); }

const sector_counts& sectors_of(const profile_counts& c, access what) {
  switch (what) {
    case access::global_load:
      return c.global_load;
    case access::global_store:
      return c.global_store;
    case access::global_atomic:
      return c.global_atomic;
    case access::local_load:
      return c.local_load;
    default:
      return c.local_store;
  }
}

const wavefront_counts& wavefronts_of(const profile_counts& c, access what) {
  switch (what) {
    case access::shared_load:
      return c.shared_load;
    case access::shared_store:
      return c.shared_store;
    case access::shared_atomic:
      return c.shared_atomic;
    default:
      return c.shared_copy;
  }
}

// Scales the counts of the sampled part to the whole launch.
level_traffic counted_traffic(const kernel_profile& k) {
  level_traffic t;
  const double all = k.timing.counted > 0 ? 1 / k.timing.counted : 1;
  for (int n = 0; n < access_kinds; ++n) {
    const auto what = static_cast<access>(n);
    if (is_shared(what)) {
      t.shared_wavefronts += all * real_of(wavefronts_of(k.total, what).wavefronts);
      continue;
    }
    const sector_counts& c = sectors_of(k.total, what);
    t.l1_sectors += all * real_of(c.sectors);
    t.l2_sectors += all * real_of(c.l2_sectors);
    t.l2_hits += all * real_of(c.l2_hits);
    t.dram_read_bytes += all * real_of(c.dram_read_bytes);
    t.dram_write_bytes += all * real_of(c.dram_write_bytes);
  }
  t.loads = all * real_of(k.total.global_load.sectors);
  t.load_hits = all * real_of(k.total.global_load.l1_hits);
  return t;
}

std::vector<costly_line> accesses_of(const kernel_profile& k) {
  double waste[2] = {};  // in sectors, in wavefronts
  for (const line_profile& l : k.lines)
    for (int n = 0; n < access_kinds; ++n) {
      const auto what = static_cast<access>(n);
      waste[is_shared(what)] += real_of(cost_of(l.counts, what).waste());
    }
  std::vector<costly_line> all;
  for (const line_profile& l : k.lines)
    for (int n = 0; n < access_kinds; ++n) {
      const auto what = static_cast<access>(n);
      const access_cost cost = cost_of(l.counts, what);
      if (cost.requests == 0) continue;
      all.push_back({l.at, cost, quotient(real_of(cost.waste()), waste[is_shared(what)])});
    }
  // A sector is a quarter of a wavefront's bytes.
  const auto bytes = [](const costly_line& l) {
    return real_of(l.cost.waste()) * (is_shared(l.cost.what) ? wavefront_bytes : sector_bytes);
  };
  std::ranges::stable_sort(all, [&](const costly_line& a, const costly_line& b) {
    return bytes(a) != bytes(b) ? bytes(a) > bytes(b) : a.cost.cost > b.cost.cost;
  });
  return all;
}

double local_share(const profile_counts& c) {
  double local = 0, all = 0;
  for (int n = 0; n < access_kinds; ++n) {
    const auto what = static_cast<access>(n);
    if (is_shared(what)) continue;
    const double sectors = real_of(cost_of(c, what).cost);
    all += sectors;
    if (is_local(what)) local += sectors;
  }
  return quotient(local, all);
}

std::vector<pipe_share> mix_of(const profile_counts& c) {
  const double all = real_of(c.all_instructions().warps);
  std::vector<pipe_share> mix;
  for (int p = 0; p < pipes; ++p)
    if (c.instructions[p].warps != 0)
      mix.push_back({static_cast<pipe>(p), quotient(real_of(c.instructions[p].warps), all)});
  std::ranges::stable_sort(mix, std::ranges::greater{}, &pipe_share::share);
  return mix;
}

std::vector<executed_line> executed_lines(const kernel_profile& k) {
  double all = 0;
  for (const line_profile& l : k.lines) all += real_of(l.counts.all_instructions().warps);
  std::vector<executed_line> lines;
  for (const line_profile& l : k.lines) {
    const instruction_counts n = l.counts.all_instructions();
    if (n.warps == 0) continue;
    lines.push_back({l.at, quotient(real_of(n.warps), all),
                     quotient(real_of(n.lanes), real_of(n.warps)),
                     quotient(real_of(l.counts.divergent_branches), real_of(l.counts.branches))});
  }
  std::ranges::stable_sort(lines, std::ranges::greater{}, &executed_line::share);
  return lines;
}

std::vector<stall_share> shares_of(const stall_cycles& s) {
  std::vector<stall_share> all;
  for (int n = 0; n < stalls; ++n)
    if (s.of[n] > 0) all.push_back({static_cast<stall>(n), quotient(s.of[n], s.all())});
  std::ranges::stable_sort(all, std::ranges::greater{}, &stall_share::share);
  return all;
}

std::vector<stalled_line> stalled_lines(const kernel_profile& k, double all) {
  std::vector<stalled_line> lines;
  for (const line_profile& l : k.lines) {
    if (l.stalled.all() <= 0) continue;
    stalled_line one{l.at, quotient(l.stalled.all(), all), shares_of(l.stalled), {}};
    if (!l.waited_for.empty()) {
      const code_place& whose = l.waited_for.front().at;
      if (whose.line != l.at.line || whose.file != l.at.file) one.whose = whose;
    }
    lines.push_back(std::move(one));
  }
  std::ranges::stable_sort(lines, std::ranges::greater{}, &stalled_line::share);
  return lines;
}

std::vector<experiment_gain> gains_of(const kernel_timing& t) {
  std::vector<experiment_gain> gains;
  for (std::size_t n = 0; n < t.experiments_us.size() && n < experiments; ++n)
    if (const double us = t.experiments_us[n]; us > 0)
      gains.push_back({static_cast<what_if>(n), us, t.us / us});
  std::ranges::stable_sort(gains, std::ranges::greater{}, &experiment_gain::gain);
  return gains;
}

}  // namespace

const char* name_of(limiter l) {
  constexpr const char* names[] = {"memory", "compute", "both", "latency"};
  return names[static_cast<int>(l)];
}

const char* name_of(access a) {
  constexpr const char* names[access_kinds] = {"global load",  "global store",  "global atomic",
                                               "local load",   "local store",   "shared load",
                                               "shared store", "shared atomic", "copy to shared"};
  return names[static_cast<int>(a)];
}

const char* name_of(waste_cause w) {
  constexpr const char* names[] = {"uncoalesced", "bank conflicts", "same address", "local memory"};
  return names[static_cast<int>(w)];
}

bool is_shared(access a) { return a >= access::shared_load; }
bool is_local(access a) { return a == access::local_load || a == access::local_store; }

level_traffic traffic_of(const kernel_profile& k) {
  const level_traffic counted = counted_traffic(k);
  if (!k.timing.traffic) return counted;
  level_traffic t = *k.timing.traffic;
  // If every block ran, the requested sectors and wavefronts are known exactly.
  if (k.timing.counted == 1) {
    t.l1_sectors = counted.l1_sectors;
    t.shared_wavefronts = counted.shared_wavefronts;
  }
  return t;
}

level_bytes bytes_of(const kernel_profile& k) {
  const level_traffic t = traffic_of(k);
  return {sector_bytes * t.l1_sectors, wavefront_bytes * t.shared_wavefronts,
          sector_bytes * t.l2_sectors, t.dram_read_bytes + t.dram_write_bytes};
}

utilisation utilisation_of(const kernel_timing& t) {
  utilisation u;
  const auto take = [&](double& most, part& which, std::initializer_list<part> parts) {
    for (const part p : parts)
      if (const double share = t.busy[static_cast<int>(p)]; share > most) {
        most = share;
        which = p;
      }
  };
  take(u.compute, u.compute_part, {part::issue, part::alu, part::fma, part::tensor});
  take(u.memory, u.memory_part, {part::l1_pipe, part::l2, part::dram, part::atomics});
  return u;
}

limiter limiter_of(const utilisation& u) {
  if (u.compute < busy_enough && u.memory < busy_enough) return limiter::latency;
  if (std::abs(u.compute - u.memory) < alike) return limiter::both;
  return u.memory > u.compute ? limiter::memory : limiter::compute;
}

double access_cost::per_request() const { return quotient(real_of(cost), real_of(requests)); }
double access_cost::ideal_per_request() const {
  return quotient(real_of(ideal), real_of(requests));
}
double access_cost::excess() const {
  return ideal == 0 ? 1 : quotient(real_of(cost), real_of(ideal));
}
bool access_cost::is_wasteful() const { return excess() > wasteful_from; }
std::uint64_t access_cost::waste() const {
  if (is_local(what)) return cost;
  return cost > ideal ? cost - ideal : 0;
}
waste_cause access_cost::why() const {
  if (is_local(what)) return waste_cause::local_memory;
  if (2 * repeated > waste()) return waste_cause::same_address;
  return is_shared(what) ? waste_cause::bank_conflicts : waste_cause::uncoalesced;
}

access_cost cost_of(const profile_counts& c, access what) {
  if (is_shared(what)) {
    const wavefront_counts& w = wavefronts_of(c, what);
    return {what, w.requests, w.wavefronts, w.ideal_wavefronts, w.repeated_wavefronts};
  }
  const sector_counts& s = sectors_of(c, what);
  return {what, s.requests, s.sectors, s.ideal_sectors, s.repeated_sectors};
}

double kernel_analysis::share_of(pipe p) const {
  for (const pipe_share& s : mix)
    if (s.of == p) return s.share;
  return 0;
}

bool kernel_analysis::is_nearly_full() const {
  return std::max(busy.compute, busy.memory) >= nearly_full;
}

double kernel_analysis::integer_share() const { return share_of(pipe::integer); }

double kernel_analysis::float_share() const {
  double share = 0;
  for (const pipe_share& p : mix)
    if (p.of == pipe::fp32 || p.of == pipe::fp64 || p.of == pipe::half || p.of == pipe::tensor)
      share += p.share;
  return share;
}

double kernel_analysis::gain_of(what_if e) const {
  for (const experiment_gain& g : gains)
    if (g.what == e) return g.gain;
  return 1;
}

// A few accesses to local memory cost little. Many accesses cost more than registers would, no
// matter how their lanes are ordered.
bool kernel_analysis::is_wasteful(const costly_line& l) const {
  return is_local(l.cost.what) ? local > much_local : l.cost.is_wasteful();
}

double kernel_analysis::stall_of(stall s) const {
  for (const stall_share& one : stalled)
    if (one.why == s) return one.share;
  return 0;
}

std::vector<const kernel_profile*> ranked(const std::vector<kernel_profile>& kernels) {
  std::vector<const kernel_profile*> all;
  for (const kernel_profile& k : kernels) all.push_back(&k);
  std::ranges::stable_sort(all, std::ranges::greater{},
                           [](const kernel_profile* k) { return k->timing.us; });
  return all;
}

double launched_kernel::average_us() const { return quotient(us, real_of(launches)); }

std::vector<launched_kernel> by_kernel(const std::vector<kernel_profile>& kernels) {
  std::vector<launched_kernel> all;
  for (const kernel_profile* k : ranked(kernels)) {
    const auto same = [&](const launched_kernel& l) {
      return l.configurations.front()->mangled == k->mangled;
    };
    auto found = std::ranges::find_if(all, same);
    if (found == all.end()) found = all.insert(all.end(), {k->kernel, 0, 0, {}});
    found->launches += k->launches;
    found->us += k->timing.us;
    found->configurations.push_back(k);
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &launched_kernel::us);
  return all;
}

bool knows_lines(const kernel_profile& k) {
  return std::ranges::any_of(k.lines, [](const line_profile& l) { return l.at.line != 0; });
}

kernel_analysis analyse(const kernel_profile& k, double call_us, int multiprocessors) {
  kernel_analysis a;
  a.kernel = &k;
  a.share = quotient(k.timing.us, call_us);
  a.busy = utilisation_of(k.timing);
  a.limit = limiter_of(a.busy);
  a.traffic = traffic_of(k);
  a.bytes = bytes_of(k);
  a.accesses = accesses_of(k);
  a.local = local_share(k.total);
  for (const costly_line& l : a.accesses)
    if (a.is_wasteful(l)) a.wasteful.push_back(l);
  a.mix = mix_of(k.total);
  a.executed = executed_lines(k);
  a.lanes = 32 * k.warp_efficiency();
  a.active = std::min(1.0, k.active_share());
  a.idle_blocks = quotient(k.timing.idle_blocks, real_of(k.launches * volume(k.grid)));
  a.divergent = quotient(real_of(k.total.divergent_branches), real_of(k.total.branches));
  a.theoretical_occupancy = quotient(k.resident_warps, k.most_warps);
  a.achieved_occupancy = quotient(k.timing.active_warps, k.most_warps);
  a.multiprocessors = multiprocessors;
  a.blocks_per_place =
      quotient(real_of(volume(k.grid)), static_cast<double>(k.fits.blocks) * multiprocessors);
  stall_cycles all;
  for (const line_profile& l : k.lines) all += l.stalled;
  a.stalled = shares_of(all);
  a.lines = stalled_lines(k, all.all());
  a.gains = gains_of(k.timing);
  return a;
}

}  // namespace stepwise
