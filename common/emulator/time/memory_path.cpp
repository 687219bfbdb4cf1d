// Queues each access after the accesses before it.
#include "common/emulator/time/memory_path.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace stepwise::emulator {
namespace {

// The most cycles of waiting for the L1/shared-memory pipe, L2 and memory before an access cannot
// be issued.
constexpr double pipe_queue_cycles = 32;
constexpr double load_queue_cycles = 8000, store_queue_cycles = 2000;
constexpr double sector_bytes = 32;
// Bytes in flight on a multiprocessor where memory's rate was measured: with one request by each of
// its threads, and with as many requests as the threads can have in flight (dram_read).
constexpr double few_in_flight = 32768, much_in_flight = 131072;
// If several multiprocessors copy the same sectors at about the same time, L2 merges some of the
// requests. This is the merged share, fitted to matrix products on an H200. ncu shows that L2
// serves 0.42 to 0.66 of their sectors.
constexpr double merged_share = 0.47;
constexpr double golden = 0.6180339887498949;  // its multiples spread evenly

}  // namespace

site_account& site_account::operator*=(double times) {
  for (double* d : {&sectors, &wavefronts, &l1_hits, &l2_sectors, &dram_sectors, &dram_read_bytes,
                    &dram_write_bytes, &dram_earlier_bytes})
    *d *= times;
  return *this;
}

double slice_imbalance(double lines, double slices) {
  const double mean = lines / slices;
  double most = 1;                                            // the busiest slice has a line
  double of_count = std::exp(-mean), up_to_count = of_count;  // Poisson distribution
  for (double count = 1;; ++count) {
    of_count *= mean / count;
    up_to_count += of_count;
    const double is_larger = 1 - std::pow(up_to_count, slices);  // in any slice
    if (count > mean && is_larger < 1e-3) return most / mean;
    most += is_larger;
  }
}

double site_rates::served_by_l2() const { return 1 - shared * merged_share; }

memory_path::memory_path(const gpu_costs& costs, unsigned active, std::uint64_t l1_bytes,
                         const std::vector<site_rates>& sites, const memory_wishes& wishes,
                         bool all_resident)
    : costs_(costs),
      sites_(sites),
      wishes_(wishes),
      l1_(l1_bytes),
      account_(sites.size()),
      owed_(sites.size()),
      active_(std::max(1U, active)) {
  const double n = active_;
  l2_share_ = std::min(costs.l2_bytes_of_one, costs.l2_bytes / n);
  l2_write_share_ = std::min(costs.l2_bytes_of_one, costs.l2_write_bytes / n);
  sector_share_ = std::min(costs.l2_bytes_of_one / sector_bytes, costs.l2_write_sectors / n);
  line_share_ = std::min(costs.l2_bytes_of_one / sector_bytes, costs.l2_write_lines / n);
  read_share_ = costs.dram_read_bytes / n;
  few_share_ = std::min(costs.dram_few_bytes, costs.dram_read_bytes) / n;
  write_share_ = costs.dram_write_bytes / (all_resident ? costs.resident_write_factor : 1) / n;
  atomic_share_ = costs.atomic_lanes / n;
}

double memory_path::free_for_shared() const { return l1_pipe_.free - pipe_queue_cycles; }

double memory_path::free_for_global() const {
  return std::max({free_for_shared(), std::max(l2_.free, dram_.free) - load_queue_cycles,
                   std::max(l2_write_.free, atomic_.free) - store_queue_cycles});
}

double memory_path::drained() const {
  return std::max({l1_pipe_.free, l2_.free, l2_write_.free, dram_.free, atomic_.free, hot_.free,
                   loads_.free, stores_.free, cluster_.free});
}

double memory_path::take(queue& q, double& busy, double at, double cycles) {
  busy += cycles;
  return q.free = std::max(at, q.free) + cycles;
}

// Takes whole sectors from those still to be read.
unsigned memory_path::draw(double& owed, unsigned most) {
  const double due = std::clamp(std::floor(owed + 1e-9), 0.0, static_cast<double>(most));
  owed -= due;
  return static_cast<unsigned>(due);
}

double memory_path::exchange(double at, double slots) {
  const unit_cost& cost = costs_.of[static_cast<int>(unit::exchange)];
  const double begun = std::max(at, l1_pipe_.free);
  take(l1_pipe_, busy_.l1_pipe, at, slots * cost.interval);
  return begun + cost.latency;
}

double memory_path::barrier(double at) { return take(l1_pipe_, busy_.l1_pipe, at, 1); }

recorded_access memory_wishes::of(const recorded_access& a) const {
  recorded_access b = a;
  if (no_global || (no_local && a.is_local)) b.sectors = b.lines = 0;
  if (ideal_sectors && b.sectors > b.ideal_sectors) {
    b.sectors = b.ideal_sectors;
    b.lines = std::min<std::uint8_t>(b.lines, static_cast<std::uint8_t>((b.sectors + 3) / 4));
    b.tag_passes = std::min(b.tag_passes, b.lines);
    b.wavefronts = std::min<std::uint16_t>(b.wavefronts, b.lines);
  }
  if (ideal_wavefronts && b.sectors == 0)
    b.wavefronts = std::min<std::uint16_t>(b.wavefronts, b.ideal_wavefronts);
  return b;
}

bool memory_wishes::change(const recorded_access& a) const {
  const recorded_access b = of(a);
  return b.sectors != a.sectors || b.wavefronts != a.wavefronts;
}

double memory_path::access(const instruction_cost& of, std::span<const recorded_access> all,
                           line_list lines, double at) {
  const double wavefront =
      of.kind == step_kind::load ? costs_.load_wavefront : costs_.store_wavefront;
  double cycles = 0;
  for (const recorded_access& recorded : all) {
    if (recorded.is_signal) continue;
    const recorded_access a = wishes_.of(recorded);
    if (a.sectors != 0)
      cycles += std::max({1.0, a.wavefronts * costs_.bank_cycles, a.tag_passes * costs_.line_cycles,
                          a.sectors * sector_bytes / costs_.l1_bytes});
    else if (of.kind == step_kind::copy)
      // The shared-memory write of cp.async. Regardless of its bank conflicts, ncu counts few of
      // its wavefronts as busy cycles of this pipe.
      cycles += a.ideal_wavefronts;
    else
      cycles += a.wavefronts > 1 ? a.wavefronts * wavefront : a.wavefronts * costs_.one_wavefront;
  }
  const double begun = take(l1_pipe_, busy_.l1_pipe, at, cycles) - 1;
  double done = at;
  for (const recorded_access& recorded : all) {
    if (recorded.is_signal) continue;
    const recorded_access a = wishes_.of(recorded);
    if (a.sectors == 0 && a.lines != 0)
      done = std::max(done,
                      take(cluster_, busy_.cluster, begun, a.lines * costs_.async.remote_sector) +
                          costs_.async.remote_latency);
    if (a.sectors != 0)
      done =
          std::max(done, global_access(of, a, lines.subspan(a.first_line, a.known_lines), begun));
    else if (a.wavefronts != 0)
      done = std::max(done, begun + costs_.shared_latency);
    if (a.sectors == 0) account_of(a.site).wavefronts += a.wavefronts;
  }
  return done;
}

double memory_path::bulk_copy(std::span<const recorded_access> all, unsigned times, double at) {
  const async_costs& costs = costs_.async;
  double done = at;
  for (const recorded_access& recorded : all) {
    if (recorded.is_signal) continue;
    const recorded_access a = wishes_.of(recorded);
    if (a.sectors == 0) {  // in shared memory
      account_of(a.site).wavefronts += a.wavefronts;
      continue;
    }
    const double bytes = a.sectors * sector_bytes;
    site_account& account = account_[a.site];
    account.sectors += a.sectors;
    const site_rates& rates = sites_[a.site];
    account.l2_sectors += a.sectors * rates.served_by_l2();
    if (a.use == bulk_use::load) {
      owed_[a.site] += rates.dram * a.sectors;
      const double begun = take(loads_, busy_.copies, at, bytes * times / costs.load_bytes);
      done = std::max(done, arrival(a, a.sectors, begun) + costs.load_latency);
      continue;
    }
    const double begun = take(stores_, busy_.copies, at, bytes / costs.store_bytes);
    const double evicted = account_evicted(account, rates, bytes * rates.whole);
    if (a.use == bulk_use::reduction) {
      take(l2_write_, busy_.l2_write, begun,
           bytes / std::min(costs.store_bytes, costs.reduced_bytes / active_ / rates.imbalance));
      take(dram_, busy_.dram, begun, bytes * rates.dram / (costs.reduced_dram_bytes / active_));
    } else {
      take(l2_write_, busy_.l2_write, begun, bytes / l2_write_share_);
    }
    if (evicted > 0 && a.use != bulk_use::reduction)
      take(dram_, busy_.dram, begun, evicted / write_share_);
    // The copy unit stalls while the queue to L2 or memory is full.
    stores_.free =
        std::max(stores_.free, std::max(l2_write_.free, dram_.free) - store_queue_cycles);
    done = std::max(done, stores_.free + costs.store_latency);
  }
  return done;
}

double memory_path::global_access(const instruction_cost& of, const recorded_access& a,
                                  line_list lines, double begun) {
  const site_rates& rates = sites_[a.site];
  if (of.kind == step_kind::load || of.kind == step_kind::copy) return load(a, lines, begun);
  if (of.kind == step_kind::store) {
    for (const recorded_line r : lines) l1_.put(line_of(r), sectors_of(r), begun);
    const double bytes = a.sectors * sector_bytes;
    const bool whole = rates.whole > 0.99;
    const double in_l2 = take(l2_write_, busy_.l2_write, begun,
                              whole ? bytes / l2_write_share_
                                    : std::max(a.sectors / sector_share_, a.lines / line_share_));
    account_[a.site].sectors += a.sectors;
    account_[a.site].l2_sectors += a.sectors;
    const double evicted = account_evicted(account_[a.site], rates, bytes * rates.whole);
    if (evicted == 0) return in_l2;
    return std::max(in_l2, take(dram_, busy_.dram, begun, evicted / write_share_));
  }
  return atomic(of, a, begun);
}

// Lanes at one address are serialised, and so are the sectors of one line.
double memory_path::atomic(const instruction_cost& of, recorded_access a, double begun) {
  const site_rates& rates = sites_[a.site];
  if (of.adds_warps) a.lanes = a.sectors = 1;
  const double ints = costs_.same_address_lanes,
               lanes = of.adds_floats ? costs_.same_address_floats : ints,
               line_sectors = costs_.same_line_sectors * lanes / ints;
  account_[a.site].sectors += a.sectors;
  account_[a.site].l2_sectors += a.sectors;
  take(l2_write_, busy_.l2_write, begun, a.sectors * sector_bytes / l2_write_share_);
  const double own = take(atomic_, busy_.atomics, begun, a.lanes / atomic_share_);
  const double hot =
      std::max(a.lanes * rates.hot / lanes, a.sectors * rates.hot_line / line_sectors);
  const double done = std::max(own, take(hot_, busy_.atomics, begun, hot * active_));
  return done + (rates.dram > 0.5 ? costs_.dram_latency : costs_.l2_latency);
}

site_account& memory_path::account_of(std::uint32_t site) {
  if (site >= account_.size()) account_.resize(site + 1);  // of shared memory, which has no rates
  return account_[site];
}

// Bytes that are written to memory because `bytes` reach L2.
double memory_path::account_evicted(site_account& a, const site_rates& rates, double bytes) {
  const double written = bytes * rates.evicted;
  a.dram_write_bytes += written * rates.own;
  a.dram_earlier_bytes += written * (1 - rates.own);
  return written;
}

void memory_path::account_read(site_account& a, const site_rates& rates, double sectors) {
  const double bytes = sectors * rates.dram_bytes;
  a.dram_sectors += sectors;
  a.dram_read_bytes += bytes;
  account_evicted(a, rates, bytes);
}

// Memory's rate rises with the number of requests in flight among which it can choose.
double memory_path::read_rate(double backlog) const {
  const double in_flight = (backlog + costs_.dram_latency) * read_share_;
  const double much =
      std::clamp((in_flight - few_in_flight) / (much_in_flight - few_in_flight), 0.0, 1.0);
  return few_share_ + much * (read_share_ - few_share_);
}

// The lateness of the last of `lines` lines, as a multiple of the typical latency of memory.
double memory_path::lateness(unsigned lines) {
  sequence_ += golden;
  sequence_ -= std::floor(sequence_);
  const double u = lines > 1 ? std::pow(sequence_, 1.0 / lines) : sequence_;
  const spread& of = costs_.dram_spread;
  return u < 0.5 ? 1 - (0.5 - u) / 0.4 * (1 - of.p10) : 1 + (u - 0.5) / 0.4 * (of.p90 - 1);
}

double memory_path::load(const recorded_access& a, line_list lines, double begun) {
  double there = begun + costs_.l1_latency;
  unsigned missed = lines.empty() ? a.sectors : 0;  // accesses that bypass L1
  std::uint32_t missing[128];
  for (std::size_t n = 0; n < lines.size(); ++n) {
    const l1_lines::found f = l1_.find(line_of(lines[n]), sectors_of(lines[n]));
    missing[n] = f.missing;
    missed += static_cast<unsigned>(std::popcount(f.missing));
    there = std::max(there, f.at);
  }
  missed = std::min<unsigned>(missed, a.sectors);  // an experiment may request fewer
  site_account& account = account_[a.site];
  account.sectors += a.sectors;
  account.l1_hits += a.sectors - missed;
  account.l2_sectors += missed * sites_[a.site].served_by_l2();
  owed_[a.site] += sites_[a.site].dram * a.sectors;
  if (missed == 0) return there;
  const double came = arrival(a, missed, begun);
  for (std::size_t n = 0; n < lines.size(); ++n)
    if (missing[n] != 0) l1_.put(line_of(lines[n]), missing[n], came);
  return std::max(there, came);
}

double memory_path::arrival(const recorded_access& a, unsigned missed, double begun) {
  const site_rates& rates = sites_[a.site];
  const double from_l2 =
      take(l2_, busy_.l2_read, begun, missed * rates.served_by_l2() * sector_bytes / l2_share_) +
      costs_.l2_latency;
  const unsigned from_dram = draw(owed_[a.site], missed);
  if (from_dram == 0) return from_l2;
  const double backlog = std::max(0.0, dram_.free - begun);
  const double bytes = from_dram * rates.dram_bytes;
  const double cycles = bytes * (1 / read_rate(backlog) + rates.evicted / write_share_);
  account_read(account_[a.site], rates, from_dram);
  const double read = take(dram_, busy_.dram, begun, cycles);
  return std::max(from_l2, read + costs_.dram_latency * lateness(a.lines));
}

// Sectors that a site has yet to read from memory but found in L1 were read by another site.
std::vector<site_account> memory_path::account() const {
  std::vector<site_account> all = account_;
  for (std::size_t n = 0; n < owed_.size(); ++n) account_read(all[n], sites_[n], owed_[n]);
  return all;
}

}  // namespace stepwise::emulator
