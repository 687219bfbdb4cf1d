// The profiler's work once per launch: its record, cache counts and time. This file is optimised
// less.
#include <algorithm>

#include "common/device/names.hpp"
#include "common/device/occupancy.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/emulator/machine/warp_time.hpp"
#include "common/emulator/profile/kernel_record.hpp"
#include "common/emulator/profile/profiler.hpp"

namespace stepwise::emulator {
namespace {

bool same(const extent& a, const extent& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

}  // namespace

profiler::record& profiler::record_for(const launch_info& launch) {
  const program& code = *launch.code;
  std::shared_ptr<const code_view> view;
  for (const auto& r : records_) {
    if (r->code != &code || r->ops != code.code.size() || r->profile.mangled != code.name) continue;
    view = r->view;
    const kernel_profile& k = r->profile;
    if (same(k.grid, launch.config->grid) && same(k.block, launch.config->block) &&
        k.dynamic_shared_bytes == launch.config->dynamic_shared_bytes)
      return *r;
  }
  if (view == nullptr) view = std::make_shared<code_view>(code, launch.machine_code, rules_);
  auto fresh = std::make_unique<record>();
  fresh->code = &code;
  fresh->ops = code.code.size();
  fresh->view = view;
  fresh->profile = describe(launch, *view);
  fresh->sites.resize(view->sites.size());
  fresh->warp_steps.resize(view->places.size() + 1);
  fresh->lane_steps.resize(view->places.size() + 1);
  fresh->divergences.resize(view->places.size() + 1);
  fresh->async.resize(view->places.size());
  records_.push_back(std::move(fresh));
  return *records_.back();
}

kernel_profile profiler::describe(const launch_info& launch, const code_view& view) const {
  const kernel_attributes& a = *launch.attributes;
  kernel_profile k;
  k.kernel = readable_name(launch.code->name);
  k.mangled = launch.code->name;
  k.grid = launch.config->grid;
  k.block = launch.config->block;
  k.static_shared_bytes = a.static_shared_bytes;
  k.dynamic_shared_bytes = launch.config->dynamic_shared_bytes;
  k.registers = a.registers;
  k.local_bytes = a.local_bytes;
  if (launch.machine_code != nullptr && a.local_bytes > view.own_local_bytes)
    k.spill_bytes = a.local_bytes - view.own_local_bytes;
  k.knows_machine_code = view.knows_machine_code;
  if (const auto fits =
          resident_blocks(model_, a, launch.threads, launch.config->dynamic_shared_bytes);
      fits.ok())
    k.fits = *fits;
  k.resident_warps = k.fits.blocks * static_cast<int>(launch.warps);
  k.l1_bytes = l1_bytes_beside(model_, a.static_shared_bytes + launch.config->dynamic_shared_bytes,
                               static_cast<std::uint64_t>(std::max(1, k.fits.blocks)));
  k.l2_bytes = model_.l2_bytes;
  k.most_warps = model_.max_threads_per_multiprocessor / model_.warp_size;
  return k;
}

// Adds the cache counts of this launch's requests. If only some of the sets were simulated, each
// site's rates are those of the simulated sets.
void profiler::add_cache_counts() {
  trace_.end();
  record& r = *now_;
  r.profile.cache_share = std::min(r.profile.cache_share, trace_.share());
  for (std::uint32_t n = 0; n < r.sites.size(); ++n) {
    const cache_counts& seen = trace_.of(n);
    site_counts& s = r.sites[n];
    sector_counts& to = s.global.sectors - s.global_before != 0 ? s.global : s.local;
    std::uint64_t& before = &to == &s.global ? s.global_before : s.local_before;
    const std::uint64_t sectors = to.sectors - before;
    before = to.sectors;
    if (seen.sectors == 0) continue;
    const bool atomic = r.view->sites[n].kind == access_kind::atomic;
    const auto all = [&](std::uint64_t part) {
      return trace_.share() == 1 && !atomic
                 ? part
                 : static_cast<std::uint64_t>(static_cast<double>(part) *
                                              static_cast<double>(sectors) /
                                              static_cast<double>(seen.sectors));
    };
    const double scale = 1 / trace_.share();
    to.l1_hits += all(seen.l1_hits);
    if (rules_.has_l2) {
      to.l2_sectors += all(seen.l2_sectors);
      // Only an atomic's first access to a sector can miss.
      to.l2_hits +=
          atomic
              ? sectors - std::min(sectors,
                                   static_cast<std::uint64_t>(
                                       static_cast<double>(seen.l2_sectors - seen.l2_hits) * scale))
              : all(seen.l2_hits);
    }
    to.dram_read_bytes +=
        static_cast<std::uint64_t>(static_cast<double>(seen.dram_read_bytes) * scale);
    to.dram_write_bytes +=
        static_cast<std::uint64_t>(static_cast<double>(seen.dram_write_bytes) * scale);
  }
}

// A site's contribution to the kernel's traffic.
static level_traffic traffic_of(const site_plan& p, const site_account& a, bool has_l2) {
  level_traffic t;
  t.l1_sectors = a.sectors;
  t.shared_wavefronts = a.wavefronts;
  if (p.kind == access_kind::load) {
    t.loads = a.sectors;
    t.load_hits = a.l1_hits;
  }
  if (has_l2) {
    t.l2_sectors = a.l2_sectors;
    t.l2_hits = a.l2_sectors - a.dram_sectors;
  }
  t.dram_read_bytes = a.dram_read_bytes;
  t.dram_write_bytes = a.dram_write_bytes;
  t.dram_earlier_bytes = a.dram_earlier_bytes;
  return t;
}

// The launch's time if lanes never waited for other lanes of their warp: the same work in as few
// warps as its lanes fill. This is an estimate, because it is not known which lanes would then
// share a warp. The time that warps spend at an instruction is scaled by the fraction of lanes that
// take part in it. Lanes without a thread do not count as waiting. The time for memory does not
// depend on the order of the lanes.
double profiler::us_without_divergence(const launch_time& t) const {
  const record& r = *now_;
  const double fill = r.profile.warp_fill();
  double all = 0, kept = 0;
  std::uint64_t warps = 0, lanes = 0;
  for (std::size_t n = 0; n < t.stalled.size() && n < r.view->places.size(); ++n) {
    warps += r.warp_steps[n];
    lanes += r.lane_steps[n];
    if (warps == 0) continue;
    const double cycles = t.stalled[n].all() + t.stalled[n].issued;
    const double active = static_cast<double>(lanes) / (32 * static_cast<double>(warps) * fill);
    all += cycles;
    kept += cycles * std::min(1.0, active);
  }
  double share = all > 0 ? kept / all : 1;
  for (const part p : {part::l2, part::dram, part::atomics})
    share = std::max(share, t.busy[static_cast<int>(p)]);
  return std::min(1.0, share) * t.us;
}

// Adds the launch's time, computed from its blocks' work and the caches' counts.
void profiler::add_time() {
  record& r = *now_;
  std::vector<site_traffic> traffic(r.sites.size());
  for (std::uint32_t n = 0; n < r.sites.size(); ++n) {
    const cache_counts& seen = trace_.of(n);
    const site_plan& p = r.view->sites[n];
    site_traffic& t = traffic[n];
    t.is_store = p.kind == access_kind::store;
    const double share = 1 / trace_.share();
    t.sectors = static_cast<double>(seen.sectors) * share;
    t.l2_sectors = static_cast<double>(seen.l2_sectors) * share;
    t.dram_sectors = static_cast<double>(seen.l2_sectors - seen.l2_hits) * share;
    t.shared_sectors = static_cast<double>(seen.shared_sectors) * share;
    if (t.dram_sectors > 0)
      t.dram_bytes = static_cast<double>(seen.dram_read_bytes) * share / t.dram_sectors;
    t.bytes = static_cast<double>(r.sites[n].timed_bytes);
    r.sites[n].timed_bytes = 0;
  }
  launch_time t = timer_->end(traffic);
  if (!r.profile.uncounted.empty()) return;  // the time would be too short
  // Instructions do not include the time that the kernel's warps waited for a clock.
  const double waited_us = time_ != nullptr ? time_->waited_us() : 0;
  t.us = std::max(t.us, waited_us);
  if (!t.experiments_us.empty())
    t.experiments_us[static_cast<int>(what_if::no_divergence)] =
        std::max(us_without_divergence(t), waited_us);
  const double launching =
      timed_launches_++ == 0 ? timer_->costs().launch_us : timer_->costs().next_launch_us;
  const double room = static_cast<double>(r.profile.fits.blocks) * model_.multiprocessors;
  const auto blocks = static_cast<double>(volume(r.profile.grid));
  last_ = {t.us + launching, room > 0 ? std::min(1.0, blocks / room) : 1};
  kernel_timing& all = r.profile.timing;
  const double before = all.us, executed = all.instructions;
  all.us += t.us + launching;
  all.instructions += t.instructions;
  // The harmonic mean, weighted by time. A single launch whose recorded blocks are unlike its other
  // blocks lowers the mean.
  constexpr double least_likeness = 1e-6;
  all.likeness =
      all.us / (before / all.likeness + (t.us + launching) / std::max(least_likeness, t.likeness));
  all.idle_blocks += t.idle_blocks;
  all.longest_block_us += std::max(t.us, t.longest_block_us) + launching;
  if (all.instructions > 0)
    all.counted = (all.counted * executed + t.counted * t.instructions) / all.instructions;
  if (!all.traffic) all.traffic.emplace();
  for (std::size_t n = 0; n < t.sites.size(); ++n)
    *all.traffic += traffic_of(r.view->sites[n], t.sites[n], rules_.has_l2);
  // Shares are averaged over the time of all launches.
  const auto mix = [&](double& share, double now) {
    share = (share * before + now * t.us) / all.us;
  };
  for (int n = 0; n < busy_parts; ++n) mix(all.busy[n], t.busy[n]);
  mix(all.active_warps, t.active_warps);
  if (!t.experiments_us.empty()) {
    all.experiments_us.resize(experiments);
    for (int n = 0; n < experiments; ++n) all.experiments_us[n] += t.experiments_us[n] + launching;
  }
  if (r.stalled.empty()) r.stalled.resize(r.view->places.size());
  for (std::size_t n = 0; n < r.stalled.size() && n < t.stalled.size(); ++n)
    r.stalled[n] += t.stalled[n];
  for (const auto& [pair, cycles] : t.waited_for) r.waited_for[pair] += cycles;
}

}  // namespace stepwise::emulator
