// Counts events by kernel and site. launches.cpp adds the cache counts and the time.
#include "common/emulator/profile/profiler.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "common/device/occupancy.hpp"
#include "common/emulator/machine/async.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/emulator/machine/warp_time.hpp"
#include "common/emulator/profile/kernel_record.hpp"
#include "common/emulator/profile/older_requests.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {
namespace {

unsigned count_of_lanes(std::uint32_t mask) {
  return mask == all_lanes ? 32 : static_cast<unsigned>(std::popcount(mask));
}

}  // namespace

profiler::profiler(const gpu& model, const std::optional<timer::options>& timing)
    : model_(model), rules_(memory_rules_of(model)), trace_(model) {
  if (timing) timer_ = std::make_unique<timer>(model, *timing);
}
profiler::~profiler() = default;

// --- launches ------------------------------------------------------------------------------------

void profiler::begin_launch(const launch_info& launch) {
  now_ = &record_for(launch);
  time_ = launch.time;
  last_.reset();
  plans_ = now_->view->sites.data();
  sites_ = now_->sites.data();
  for (site_counts& s : now_->sites) std::ranges::fill(s.known, site_counts::known_result{});
  kernel_profile& k = now_->profile;
  ++k.launches;
  const extent cluster = cluster_of(*launch.attributes, *launch.config);
  trace::launch_shape shape;
  shape.resident = static_cast<unsigned>(std::max(1, k.fits.blocks));
  shape.warps = launch.warps;
  shape.blocks = volume(launch.config->grid);
  shape.local_bytes = launch.state->local_bytes;
  shape.l1_bytes = k.l1_bytes;
  trace_.begin(shape, now_->view->sites);
  in_cluster_ = volume(cluster) > 1;
  block_ = nullptr;
  phases_.clear();
  last_poll_.assign(launch.warps, 0);
  has_polled_ = false;
  if (timer_ != nullptr) {
    gpu larger = model_;
    larger.registers_per_multiprocessor *= 2;
    larger.registers_per_block *= 2;
    const auto fits = resident_blocks(larger, *launch.attributes, launch.threads,
                                      launch.config->dynamic_shared_bytes);
    const auto with_more_registers = static_cast<unsigned>(fits.ok() ? fits->blocks : 1);
    const unsigned most = std::max(1U, static_cast<unsigned>(k.most_warps) / launch.warps);
    timer_->begin({launch, shape.blocks, shape.resident, std::max(shape.resident, most),
                   std::max(shape.resident, with_more_registers), k.l1_bytes,
                   static_cast<unsigned>(volume(cluster))});
  }
}

status profiler::end_launch(const status& failure) {
  add_cache_counts();
  if (timer_ != nullptr && failure.ok()) add_time();
  now_ = nullptr;
  return failure;
}

bool profiler::wants(std::uint64_t block) { return timer_ == nullptr || timer_->wants(block); }
std::int64_t profiler::slice() { return timer_ == nullptr ? slice_instructions : timer_->slice(); }
void profiler::begin_block(const block& b) {
  trace_.begin_block(b.index);
  if (timer_ != nullptr) timer_->begin_block(b.index);
}
void profiler::end_block(const block& b) {
  trace_.end_block(b.index);
  if (timer_ != nullptr) timer_->end_block(b.index);
}
void profiler::switch_to(const block& b) {
  block_ = &b;
  if (polling_block_ != b.index) std::ranges::fill(last_poll_, 0);
  polling_block_ = b.index;
  trace_.switch_to(b.index);
  if (timer_ != nullptr) timer_->switch_to(b.index);
}

// --- events --------------------------------------------------------------------------------------

// True if the event's shape is that of the machine code's access.
static bool is_as_written(const access_event& e, const site_plan& p) {
  return e.shape->active == e.active && p.bytes == e.site->bytes;
}

static unsigned count_of_lanes(const access_event& e) {
  return e.shape->active == e.active ? e.shape->lanes : count_of_lanes(e.active);
}

unsigned profiler::wavefronts_of(shared_use use, const std::uint64_t* offset, std::uint32_t active,
                                 unsigned bytes) const {
  return rules_.are_todays() ? wavefronts(use, offset, active, bytes)
                             : older_wavefronts(rules_, use, offset, active, bytes);
}

inline void profiler::count_shared(const access_event& e, const site_plan& p,
                                   const std::uint64_t* offset) {
  site_counts& site = sites_[e.index];
  wavefront_counts& c = site.shared;
  const unsigned n = count_of_lanes(e);
  if (p.loops) {
    const swap_loop loop = loop_of(offset, e.active, p.bytes);
    c.requests += loop.rounds;
    c.lanes += n;
    c.wavefronts += loop.swap_wavefronts;
    c.ideal_wavefronts +=
        ideal_wavefronts(shared_use::compare_and_swap, e.active, p.bytes, loop.swap_wavefronts);
    const swap_loop combined = loop_of(offset, one_lane_per_address(offset, e.active), p.bytes);
    c.repeated_wavefronts += loop.swap_wavefronts - combined.swap_wavefronts;
    wavefront_counts& loads = site.loop_loads;
    loads.requests += loop.rounds;
    loads.lanes += n;
    loads.wavefronts += loop.load_wavefronts;
    loads.ideal_wavefronts +=
        ideal_wavefronts(shared_use::load, e.active, p.bytes, loop.load_wavefronts);
    loads.repeated_wavefronts += loop.load_wavefronts - combined.load_wavefronts;
    return;
  }
  const bool repeats = e.shape->active == e.active && (!p.copies || copied_shape_ != 0);
  const std::uint64_t at = offset[e.shape->first];
  // A shape that is moved by whole words has the same number of wavefronts. Where words of two rows
  // lie side by side, the shape must be moved by whole rows. The rules for copies compare lines of
  // what is read and of what is written.
  const unsigned moves = p.copies                 ? line_bytes
                         : rules_.bank_bytes == 8 ? 256
                                                  : std::max(4u, unsigned{p.bytes});
  site_counts::known_result& known = site.known[at % std::size(site.known)];
  if (!repeats || known.shape != e.shape->serial || ((at - known.at) & (moves - 1)) != 0 ||
      (p.copies &&
       (known.from_shape != copied_shape_ || ((copied_first_ - known.from) & (moves - 1)) != 0))) {
    known.shape = repeats ? e.shape->serial : 0;
    known.at = at;
    known.from_shape = copied_shape_;
    known.from = copied_first_;
    const bool around_l1 = p.copies && p.cache == cache_use::l2_only;
    known.taken = p.copies ? copy_wavefronts(copied_from_, offset, e.active, p.bytes, around_l1)
                           : wavefronts_of(p.shared, offset, e.active, p.bytes);
    known.sectors_again = around_l1 ? sectors_again(copied_from_, offset, e.active) : 0;
    known.ideal = rules_.are_todays()
                      ? ideal_wavefronts(p.shared, e.active, p.bytes, known.taken)
                      : older_ideal_wavefronts(rules_, p.shared, e.active, p.bytes, known.taken);
    known.repeated =
        p.kind == access_kind::atomic
            ? known.taken -
                  wavefronts_of(p.shared, offset, one_lane_per_address(offset, e.active), p.bytes)
            : 0;
  }
  if (p.copies) sites_[copied_at_].global.sectors += known.sectors_again;
  ++c.requests;
  c.lanes += n;
  c.wavefronts += known.taken;
  c.ideal_wavefronts += known.ideal;
  c.repeated_wavefronts += known.repeated;
}

// The sectors that lanes exchange with other blocks of the cluster. An atomic sends the address and
// the operand of each lane.
unsigned profiler::sectors_to_peers(const access_event& e, const site_plan& p,
                                    const std::uint64_t* address) {
  std::uint32_t remote = 0;
  for (std::uint32_t m = e.active; m != 0; m &= m - 1)
    if (address[std::countr_zero(m)] >= peer_bytes) remote |= m & -m;
  if (remote == 0) return 0;
  touch(address, remote, p.bytes, touched_);
  return touched_.sectors * (p.kind == access_kind::atomic ? 2 : 1);
}

void profiler::count_constant(const access_event& e) {
  sector_counts& c = sites_[e.index].constant;
  const unsigned n = count_of_lanes(e);
  touch(e.address, e.active, e.site->bytes, touched_);
  ++c.requests;
  c.lanes += n;
  c.sectors += touched_.sectors;
  c.ideal_sectors += ideal_sectors(n, e.site->bytes, touched_.sectors);
}

std::uint32_t profiler::access(const access_event& e) {
  const site_plan& p = plans_[e.index];
  if (p.constant && e.active != 0) count_constant(e);
  if (!p.counted) return e.active;
  if (p.copies && p.kind == access_kind::load) {
    for (int l = 0; l < 32; ++l) copied_from_[l] = ((e.active >> l) & 1) != 0 ? e.address[l] : 0;
    copied_at_ = e.index;
    copied_shape_ = e.active != 0 && e.shape->active == e.active ? e.shape->serial : 0;
    copied_first_ = e.active != 0 ? e.address[e.shape->first] : 0;
  }
  if (e.active == 0) return 0;
  const std::uint64_t* address = e.address;
  std::uint64_t moved[32];
  if (p.offset != 0) {
    for (int l = 0; l < 32; ++l)
      moved[l] = address[l] + static_cast<std::uint64_t>(std::int64_t{p.offset});
    address = moved;
  }
  if (e.space == memory_space::shared) {
    const unsigned to_peers = in_cluster_ ? sectors_to_peers(e, p, address) : 0;
    now_->async[p.ordinal].peer_sectors += to_peers;
    const wavefront_counts before = sites_[e.index].shared;
    count_shared(e, p, address);
    if (timer_ != nullptr) {
      const wavefront_counts& c = sites_[e.index].shared;
      timer_->moved(0, c.wavefronts - before.wavefronts);
      if (timer_->is_recording()) {
        recorded_access a;
        a.lines = static_cast<std::uint8_t>(std::min(255U, to_peers));
        a.wavefronts = static_cast<std::uint16_t>(c.wavefronts - before.wavefronts);
        a.ideal_wavefronts = static_cast<std::uint8_t>(
            std::min<std::uint64_t>(255, c.ideal_wavefronts - before.ideal_wavefronts));
        time_access(e, a, {});
      }
    }
  } else if (e.space != memory_space::parameter) {
    const bool global = e.space == memory_space::global;
    sector_counts& c = global ? sites_[e.index].global : sites_[e.index].local;
    unsigned sectors;
    if (p.kind == access_kind::atomic && global) {
      // All lanes have one address, which the first lane accesses.
      const std::uint32_t lanes = p.combined ? e.active & -e.active : e.active;
      sectors = atomic_sectors(address, lanes, touched_);
    } else {
      if (global && !rules_.are_todays())
        touch_older(rules_, address, e.active, p.bytes,
                    p.kind == access_kind::load && p.cache == cache_use::cached, touched_);
      else if (global && e.shape->runs != 0 && is_as_written(e, p))
        touch_runs(address[e.shape->first], *e.shape, p.bytes, touched_);
      else if (global)
        touch(address, e.active, p.bytes, touched_);
      else
        touch_local(address, e.active, p.bytes, trace_.local_line(e.warp), touched_);
      sectors = touched_.sectors;
    }
    const unsigned n = count_of_lanes(e);
    ++c.requests;
    c.lanes += n;
    c.sectors += sectors;
    // An atomic may transfer a sector several times; touched_ counts each sector once.
    const unsigned ideal = ideal_sectors(n, p.bytes, touched_.sectors);
    const unsigned repeated = sectors - touched_.sectors;
    c.ideal_sectors += ideal;
    c.repeated_sectors += repeated;
    // Lanes touch each byte of the sectors if lanes and sectors have the same number of bytes.
    const bool whole = n * p.bytes == touched_.sectors * sector_bytes;
    trace_.add(e.warp, e.index, touched_, whole, !global);
    if (timer_ != nullptr) {
      sites_[e.index].timed_bytes += n * p.bytes;
      timer_->moved(sectors, 0);
      const std::uint64_t first = address[std::countr_zero(e.active)];
      if (global && p.kind == access_kind::load) timer_->loaded(e.index, first);
      if (global && p.kind == access_kind::store) timer_->stored(first);
      if (global && p.kind == access_kind::atomic) timer_->atomic(e.index, address, e.active);
      if (timer_->is_recording())
        record_lines(e, p, address, sectors, global ? ideal + repeated : sectors, whole);
    }
  }
  return e.active;
}

// Reports to the timer which lines an access touches; `whole`: lanes touch each byte of its
// sectors.
void profiler::record_lines(const access_event& e, const site_plan& p, const std::uint64_t* address,
                            unsigned sectors, unsigned ideal_sectors, bool whole) {
  const bool global = e.space == memory_space::global, stores = p.kind == access_kind::store;
  const std::uint64_t mark = global ? 0 : local_lines;
  const bool in_l1 = stores ? whole && rules_.l1_keeps_stores : p.cache == cache_use::cached;
  constexpr std::size_t most = std::size(touched_lines{}.lines);
  std::array<recorded_line, most> lines;
  for (unsigned n = 0; n < touched_.count; ++n) {
    lines[n] = line_record(touched_.lines[n].line | mark, touched_.lines[n].sectors);
  }
  recorded_access a;
  a.sectors = static_cast<std::uint16_t>(sectors);
  a.ideal_sectors = static_cast<std::uint8_t>(ideal_sectors);
  a.lines = static_cast<std::uint8_t>(touched_.count);
  a.is_local = !global;
  a.tag_passes = a.lines;
  if (rules_.are_todays())
    a.tag_passes = static_cast<std::uint8_t>(most_in_a_tag_bank(
        timer_->costs(), touched_.count, [&](unsigned n) { return line_of(lines[n]); }));
  // L1 has the same banks as shared memory because it is the same memory.
  a.wavefronts =
      global ? static_cast<std::uint16_t>(wavefronts_of(
                   stores || p.kind == access_kind::atomic ? shared_use::store : shared_use::load,
                   address, e.active, p.bytes))
             : 1;
  time_access(e, a, std::span(lines).first(in_l1 ? touched_.count : 0));
}

void profiler::time_access(const access_event& e, recorded_access a,
                           std::span<const recorded_line> lines) {
  a.ordinal = plans_[e.index].ordinal;
  a.site = static_cast<std::uint32_t>(e.index);
  a.lanes = static_cast<std::uint8_t>(count_of_lanes(e));
  timer_->access(a, lines);
}

// Whether the warp still has lanes that have not reached this barrier, perhaps because the emulator
// has held them back. On a GPU, all lanes of a warp arrive together, so its trace records only the
// arrival of the last lanes.
bool profiler::waits_for_own_lanes(std::uint32_t warp, std::uint32_t ordinal,
                                   std::uint32_t lanes) const {
  if (block_ == nullptr || !timer_->is_recording()) return false;
  const step_kind kind = now_->view->places[ordinal].kind;
  const auto& w = block_->warps[warp];
  if (kind == step_kind::wait_cluster) return (lanes | w.in_cluster) != w.alive;
  if (kind != step_kind::barrier) return false;
  for (const auto& wait : w.at_barrier) lanes |= wait.waiting.mask;
  return lanes != w.alive;
}

void profiler::executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                        std::uint32_t lanes) {
  if (ranges_.site != no_site) end_ranges();
  last_signal_.ordinal = ~0U;
  copied_sectors_ = 0;
  // If a run repeats because an mbarrier is not ready, it counts once. Hardware suspends a waiting
  // warp, whereas the number of polls here depends on the order in which the emulator runs warps.
  const std::uint64_t poll =
      std::exchange(has_polled_, false) ? std::uint64_t{first} << 32 | end : 0;
  const bool repeats = poll != 0 && last_poll_[warp] == poll;
  if (first != end) last_poll_[warp] = poll;
  if (repeats) {
    if (timer_ != nullptr) timer_->forget_run();
    return;
  }
  if (timer_ != nullptr) {
    if (first != end && waits_for_own_lanes(warp, end - 1, lanes))
      timer_->forget_run();
    else
      timer_->executed(warp, first, end);
  }
  const unsigned n = count_of_lanes(lanes);
  record& r = *now_;
  ++r.warp_steps[first];
  --r.warp_steps[end];
  r.lane_steps[first] += n;
  r.lane_steps[end] -= n;
}

void profiler::used_mbarrier(const warp_event& e, const mbarrier_event& m) {
  if (now_ == nullptr || m.use == mbarrier_use::expects) return;
  if (m.use == mbarrier_use::polls) has_polled_ = true;
  const bool parity = ((*m.word >> mbarrier_parity_at) & 1) != 0;
  if (m.use == mbarrier_use::begins) {
    phases_[m.word] = {};  // the word still contains old data
    return;
  }
  phase_count& count = phases_[m.word];
  if (count.parity != parity) count = {count.phases + 1, parity};
  const bool waits = m.use == mbarrier_use::passes;
  async_counts& counted = now_->async[e.at->ordinal];
  counted.arrivals += m.use == mbarrier_use::arrives;
  counted.waits += waits;
  if (m.use == mbarrier_use::receives) {
    if (ranges_.site != no_site) end_ranges();
    if (received_by_ != instruction_place::none && received_by_ != e.at->ordinal)
      copied_sectors_ = 0;
    // Every block that receives a multicast receives all of its sectors.
    counted.received_sectors += copied_sectors_ + m.filled_sectors;
    received_by_ = e.at->ordinal;
  }
  const bool is_same = last_signal_.ordinal == e.at->ordinal && last_signal_.use == m.use &&
                       last_signal_.address == m.address;
  last_signal_ = {e.at->ordinal, m.address, m.use};
  if (timer_ == nullptr || is_same || m.use == mbarrier_use::polls) return;
  if (waits && count.phases == 0) return;  // a wait for the phase before the first
  timer_->signal(e.at->ordinal, {static_cast<std::uint32_t>(m.address % peer_bytes),
                                 count.phases - (waits ? 1 : 0), waits, m.address >= peer_bytes});
}

void profiler::diverged(const warp_event& e, std::uint32_t) { ++now_->divergences[e.at->ordinal]; }

}  // namespace stepwise::emulator
