// Keeps a clock for each warp of the blocks that run.
#include "common/emulator/profile/kernel_clock.hpp"

#include <algorithm>
#include <bit>

#include "common/device/occupancy.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {
namespace {

// The most instructions between two readings by a waiting warp: one iteration, even in debug code.
constexpr std::uint64_t iteration_instructions = 64;
constexpr double step_of_waiting = 1.0 / 64;  // of the time waited so far
constexpr double last_cycle = 0x1p62;

shared_use use_of(const access_site& site) {
  if (site.matrix) return shared_use::rows;
  return site.kind == access_kind::load    ? shared_use::load
         : site.kind == access_kind::store ? shared_use::store
                                           : shared_use::atomic;
}

}  // namespace

kernel_clock::kernel_clock(const gpu& model)
    : model_(model), rules_(memory_rules_of(model)), costs_(costs_of(model)), caches_(model) {}
kernel_clock::~kernel_clock() = default;

void kernel_clock::begin_launch(const launch_info& launch) {
  known_code& known = known_[launch.code];
  if (known.order == nullptr || known.ops != launch.code->code.size() ||
      known.name != launch.code->name) {
    known.ops = launch.code->code.size();
    known.name = launch.code->name;
    known.costs = std::make_unique<code_costs>(*launch.code, launch.machine_code);
    known.order = std::make_unique<issue_order>(*known.costs, costs_);
  }
  order_ = known.order.get();
  warps_ = launch.warps;
  end_ = 0;
  waited_ = false;
  blocks_.clear();
  const auto fits = resident_blocks(model_, *launch.attributes, launch.threads,
                                    launch.config->dynamic_shared_bytes);
  const std::uint64_t resident = static_cast<unsigned>(fits.ok() ? std::max(1, fits->blocks) : 1);
  const std::uint64_t l1 = l1_bytes_beside(
      model_, launch.attributes->static_shared_bytes + launch.config->dynamic_shared_bytes,
      resident);
  if (!has_l2_) caches_.clear(l1, 1);
  has_l2_ = true;
  caches_.clear_l1(l1);
  const std::uint64_t places =
      std::min(volume(launch.config->grid), resident * costs_.multiprocessors);
  places_ = decltype(places_)(std::greater<>(), std::vector<double>(places, 0.0));
}

status kernel_clock::end_launch(const status& failure) {
  for (const auto& [index, b] : blocks_)
    for (const issue_clock& w : b.warps) end_ = std::max(end_, w.now());
  blocks_.clear();
  now_ = nullptr;
  return failure;
}

void kernel_clock::begin_block(const block& b) {
  double begins = end_;
  if (!places_.empty()) {
    begins = places_.top();
    places_.pop();
  }
  running_block& fresh = blocks_[b.index];
  fresh.warps.assign(warps_, issue_clock(*order_, begins));
  fresh.waits.resize(warps_);
  fresh.multiprocessor = static_cast<unsigned>(b.index % costs_.multiprocessors);
  now_ = &fresh;
}

void kernel_clock::end_block(const block& b) {
  const auto found = blocks_.find(b.index);
  if (found == blocks_.end()) return;
  double ended = 0;
  for (const issue_clock& w : found->second.warps) ended = std::max(ended, w.now());
  end_ = std::max(end_, ended);
  places_.push(ended + costs_.turnover + costs_.turnover_per_warp * warps_);
  blocks_.erase(found);
  now_ = nullptr;
}

void kernel_clock::switch_to(const block& b) {
  const auto found = blocks_.find(b.index);
  now_ = found != blocks_.end() ? &found->second : nullptr;
}

// The latency of the farthest line. Atomics are executed in L2.
double kernel_clock::global_latency(const access_event& e, double& l1_pipe) {
  touch(e.address, e.active, std::max<unsigned>(1, e.site->bytes), touched_);
  const bool atomic = e.site->kind == access_kind::atomic;
  const bool around_l1 =
      !rules_.l1_keeps_loads || e.site->is_volatile || e.site->order != memory_order::weak;
  double latency = 0;
  for (unsigned n = 0; n < touched_.count; ++n) {
    const touched_line& t = touched_.lines[n];
    const cache_counts before = caches_.of(0);
    if (atomic)
      caches_.atomic(now_->multiprocessor, t.line, t.sectors, 0);
    else if (e.site->kind == access_kind::store)
      caches_.store(now_->multiprocessor, t.line, t.sectors, false, 0);
    else if (around_l1)
      caches_.load_around_l1(now_->multiprocessor, t.line, t.sectors, 0);
    else
      caches_.load(now_->multiprocessor, t.line, t.sectors, 0);
    const cache_counts& after = caches_.of(0);
    const std::uint64_t in_l2 = after.l2_sectors - before.l2_sectors;
    const double of_line = in_l2 == 0                                ? costs_.l1_latency
                           : after.l2_hits - before.l2_hits == in_l2 ? costs_.l2_latency
                                                                     : costs_.dram_latency;
    latency = std::max(latency, of_line);
  }
  l1_pipe = std::max(
      1.0, costs_.line_cycles * most_in_a_tag_bank(costs_, touched_.count, [&](unsigned n) {
             return touched_.lines[n].line;
           }));
  return e.site->kind == access_kind::store ? 0 : latency;
}

std::uint32_t kernel_clock::access(const access_event& e) {
  if (e.active == 0 || now_ == nullptr) return e.active;
  const access_site& site = *e.site;
  double latency = 0, l1_pipe = 1;
  if (e.space == memory_space::shared) {
    const double each =
        site.kind == access_kind::load ? costs_.load_wavefront : costs_.store_wavefront;
    l1_pipe =
        each * wavefronts(use_of(site), e.address, e.active, std::max<unsigned>(1, site.bytes));
    latency = site.kind == access_kind::store ? 0 : costs_.shared_latency;
  } else if (e.space == memory_space::global && !site.constant) {
    latency = global_latency(e, l1_pipe);
  } else if (e.space == memory_space::local) {
    latency = site.kind == access_kind::store ? 0 : costs_.l1_latency;
  }
  now_->warps[e.warp].accessed(site.ordinal, latency, l1_pipe);
  // Polling a flag is part of waiting.
  const bool polls =
      site.kind == access_kind::load && (site.is_volatile || site.order != memory_order::weak);
  const bool own = e.space == memory_space::local || e.space == memory_space::parameter;
  if (!polls && !own && !site.constant) now_->waits[e.warp] = {};
  return e.active;
}

void kernel_clock::executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                            std::uint32_t) {
  if (now_ == nullptr) return;
  now_->warps[warp].executed(*order_, first, end);
  now_->waits[warp].instructions += end - first;
}

void kernel_clock::reached_barrier(const warp_event& e, unsigned id, bool arrive_only, bool) {
  if (now_ == nullptr) return;
  now_->at_barrier[id].emplace_back(e.warp, !arrive_only);
  now_->waits[e.warp] = {};
}

// The warps arrive one after the other and continue together.
void kernel_clock::released_barrier(unsigned id, bool) {
  if (now_ == nullptr) return;
  auto& here = now_->at_barrier[id];
  std::vector<double> arrived;
  for (const auto& [warp, waits] : here) arrived.push_back(now_->warps[warp].now());
  std::ranges::sort(arrived);
  double last = 0;
  for (const double at : arrived) last = std::max(at, last + costs_.barrier_per_warp);
  for (const auto& [warp, waits] : here)
    if (waits) now_->warps[warp].wait_until(last + costs_.barrier_latency);
  here.clear();
}

double kernel_clock::reading(std::uint32_t warp, const op* at) {
  issue_clock& clock = now_->warps[warp];
  waiting& w = now_->waits[warp];
  if (w.at != at || w.instructions > iteration_instructions) w = {at, 0, clock.now(), 0};
  w.instructions = 0;
  if (++w.readings > patience) {
    const double step = (clock.now() - w.since) * step_of_waiting;
    clock.wait_until(std::min(clock.now() + step, last_cycle));
    waited_ = true;
  }
  return clock.now();
}

std::uint64_t kernel_clock::cycles(std::uint32_t warp, const op* at) {
  const auto since = static_cast<double>(begin_ns_ - origin_ns_);
  const auto begin = static_cast<std::uint64_t>(since * costs_.ghz);
  return begin + static_cast<std::uint64_t>(reading(warp, at));
}

std::uint64_t kernel_clock::nanoseconds(std::uint32_t warp, const op* at) {
  return begin_ns_ + static_cast<std::uint64_t>(reading(warp, at) / costs_.ghz);
}

void kernel_clock::slept(std::uint32_t warp, std::uint32_t ns) {
  issue_clock& clock = now_->warps[warp];
  clock.wait_until(clock.now() + ns * costs_.ghz);
  waited_ = true;
}

double kernel_clock::waited_us() const {
  if (!waited_) return 0;
  double until = end_;
  for (const auto& [index, b] : blocks_)
    for (const issue_clock& w : b.warps) until = std::max(until, w.now());
  return until / (costs_.ghz * 1e3);
}

}  // namespace stepwise::emulator
