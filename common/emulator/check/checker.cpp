#include "common/emulator/check/checker.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace stepwise::emulator {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::size_t most_launches = 10000;

// Half of the host's memory may be spent on what is remembered of global memory.
std::uint64_t most_pages() {
  const auto host = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                    static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::max<std::uint64_t>(1024, host / 2 / (page_bytes / 4 * cells::bytes_per_cell));
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

checker::watched_memory::watched_memory(std::uint64_t size)
    : words(round_up(size + 64, page_bytes), 4),
      bytes(round_up(size + 64, page_bytes), 1),
      written(size + 64),
      pages(round_up(size + 64, page_bytes) / page_bytes, grain::untouched),
      bytes_watched(size) {}

checker::checker(const gpu& model, global_memory& memory)
    : model_(model),
      memory_(memory),
      device_base_(memory.device_base()),
      global_(std::make_unique<watched_memory>(memory.reserved_bytes())),
      most_pages_(most_pages()) {}

checker::~checker() = default;

// --- launches and blocks -----------------------------------------------------------------------

void checker::begin_launch(const launch_info& info) {
  code_ = info.code;
  config_ = info.config;
  context_ = info.state;
  block_warps_ = info.warps;
  launch_origin_ = origin_;
  failure_ = {};
  windows_.assign(code_->accesses.size(), {});
  extra_sites_.clear();
  extra_numbers_.clear();
  lines_of_sites_.clear();
  first_windows_.assign(code_->accesses.size(), {});
  told_ = {nullptr, -1};
  order_.begin_work(stream_);
  order_.begin_launch(block_warps_);
}

status checker::end_launch(const status& failure) {
  blocks_.clear();
  unused_.clear();
  current_ = nullptr;
  launches_.push_back({order_.current_work(), code_, config_->grid, config_->block, block_warps_});
  if (launches_.size() > most_launches) launches_.pop_front();
  return failure.ok() ? failure_ : failure;
}

void checker::begin_block(const block& b) {
  auto& slot = blocks_[&b];
  if (slot == nullptr) {
    if (unused_.empty()) {
      slot = std::make_unique<block_state>();
      slot->shared = std::make_unique<watched_memory>(context_->shared_bytes);
      slot->shared->is_shared = true;
    } else {
      slot = std::move(unused_.back());
      unused_.pop_back();
    }
  }
  slot->now = &b;
  slot->first_exit.reset();
  slot->exited = 0;
  for (auto& a : slot->arrivals) a.clear();
  slot->shared->written.clear(0, context_->shared_bytes);
  order_.begin_block(slot->clock, b.index, block_warps_);
}

void checker::end_block(const block& b) {
  const auto found = blocks_.find(&b);
  if (found == blocks_.end()) return;
  unused_.push_back(std::move(found->second));
  blocks_.erase(found);
}

void checker::turn_to(const block& b) { current_ = blocks_.at(&b).get(); }

// --- accesses ----------------------------------------------------------------------------------

const access_site& checker::site_at(std::uint32_t number) const {
  static const access_site unknown;
  if (number < code_->accesses.size()) return code_->accesses[number];
  const std::size_t extra = number - code_->accesses.size();
  return extra < extra_sites_.size() ? extra_sites_[extra] : unknown;
}

accessor checker::accessor_of(std::uint32_t warp, std::uint32_t number,
                              const watched_memory& m) const {
  const block_clock& b = current_->clock;
  // A barrier alone does not finish an asynchronous copy: then every cell is looked at.
  const tick in_block = m.is_shared && b.uses_copies ? 0 : b.barrier;
  return {m.is_shared ? b.began : order_.settled(),
          in_block,
          b.first_warp,
          block_warps_,
          order_.launch_began(),
          b.warps[warp].now,
          b.first_warp + warp,
          number};
}

std::uint32_t checker::access(const access_event& e) {
  if (e.site->counted_only) return e.active;
  switch (e.space) {
    case memory_space::global:
      return visit(e, *global_, device_base_);
    case memory_space::shared:
      return visit(e, *current_->shared, 0);
    case memory_space::local:
      return in_bounds_local(e);
    default:
      return e.active;
  }
}

// Divides the warp's accesses into runs of lanes whose addresses are contiguous or the same. The
// lanes that may go on.
std::uint32_t checker::visit(const access_event& e, watched_memory& m, std::uint64_t base) {
  const access_site& s = *e.site;
  const bool remembered = !s.constant;
  const std::uint64_t each = s.bytes;
  const accessor a = accessor_of(e.warp, e.index, m);
  std::uint32_t allowed = e.active;
  for (std::uint32_t left = e.active; left != 0;) {
    const unsigned first = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint64_t behind = std::uint64_t{left} >> (first + 1);
    const std::uint64_t repeats = behind & (std::uint64_t{e.repeats} >> (first + 1));
    const bool same = (repeats & 1) != 0;
    const std::uint64_t chain =
        same ? repeats : behind & (std::uint64_t{e.continues} >> (first + 1));
    const unsigned count = 1 + static_cast<unsigned>(std::countr_one(chain));
    const std::uint32_t run =
        static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << first);
    left &= ~run;
    const std::uint64_t at = e.address[first], bytes = same ? each : each * count;
    const access_window& window = windows_[e.index];
    if (count < 3 && left != 0 && remembered && each >= 4 && s.order == memory_order::weak &&
        !current_->clock.warps[e.warp].copies_pending) {
      // Scattered: lane by lane, with as little as possible for each.
      left = visit_lanes(e, m, a, base, left | run);
      if (left == 0) break;
      const std::uint32_t fine =
          m.is_shared ? in_bounds_shared(e, left) : in_bounds_global(e, left);
      allowed &= ~(left & ~fine);
      for (std::uint32_t l = fine; l != 0; l &= l - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(l));
        if (e.address[lane] - base < m.bytes_watched)
          visit_run(e, m, a, e.address[lane] - base, lane, 1, false);
      }
      break;
    }
    if ((at & (each - 1)) == 0 && window.bytes >= bytes && at - window.base <= window.bytes - bytes)
        [[likely]] {
      // Registered memory of the host's lies elsewhere and is not watched.
      if (remembered && at - base < m.bytes_watched)
        visit_run(e, m, a, at - base, first, count, same);
      continue;
    }
    const std::uint32_t fine = m.is_shared ? in_bounds_shared(e, run) : in_bounds_global(e, run);
    allowed &= ~(run & ~fine);
    for (std::uint32_t l = remembered ? fine : 0; l != 0; l &= l - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(l));
      if (e.address[lane] - base < m.bytes_watched)
        visit_run(e, m, a, e.address[lane] - base, lane, 1, false);
    }
  }
  return allowed;
}

// The usual case of one lane's access after the other; the lanes for which it is not so.
std::uint32_t checker::visit_lanes(const access_event& e, watched_memory& m, const accessor& a,
                                   std::uint64_t base, std::uint32_t lanes_in) {
  const std::uint64_t bytes = e.site->bytes;
  const bool stores = e.site->kind == access_kind::store;
  const access_window window = windows_[e.index];
  const std::uint64_t limit = window.bytes >= bytes ? window.bytes - bytes + 1 : 0;
  const cells& c = m.words.all();
  const auto count = static_cast<unsigned>(bytes / 4);
  std::uint32_t rest = 0;
  for (std::uint32_t l = lanes_in; l != 0; l &= l - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(l));
    const std::uint64_t address = e.address[lane], at = address - base;
    const bool plain = address - window.base < limit && (address & (bytes - 1)) == 0 &&
                       at < m.bytes_watched &&
                       m.pages[at / page_bytes] == watched_memory::grain::words &&
                       (stores || m.written.all(at, bytes));
    if (plain &&
        (stores ? store_lane(c, at / 4, count, lane, a) : load_lane(c, at / 4, count, lane, a))) {
      if (stores) m.written.mark(at, bytes);
    } else {
      rest |= l & -l;
    }
  }
  return rest;
}

void checker::visit_run(const access_event& e, watched_memory& m, const accessor& a,
                        std::uint64_t at, unsigned first, unsigned count, bool same) {
  const access_site& s = *e.site;
  const std::uint64_t each = s.bytes, bytes = same ? each : each * count;
  const bool reads = s.kind != access_kind::store;
  const bool all_written = !reads || m.written.all(at, bytes);
  const bool words = touch_pages(m, at, bytes);
  if (s.kind == access_kind::store) m.written.mark(at, bytes);
  if (all_written && words && s.order == memory_order::weak && (at | each) % 4 == 0 &&
      !current_->clock.warps[e.warp].copies_pending) {
    const cells& c = m.words.all();
    const unsigned per_lane = static_cast<unsigned>(each / 4);
    const std::uint32_t run =
        static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << first);
    const bool settled =
        reads ? (same ? load_same(c, at / 4, per_lane, run, a)
                      : load_row(c, at / 4, per_lane, first, count, a))
              : (!same || count == 1) && store_row(c, at / 4, per_lane, first, count, a);
    if (settled) return;
  }
  const bool spread = count_of(e.active) > 1 && (e.active & (e.active - 1) & ~e.repeats) != 0;
  for (unsigned k = 0; k < count; ++k) {
    const touch t{
        &m,     &s,   e.index, same ? at : at + k * each, each, static_cast<int>(first + k),
        e.warp, e.at, spread};
    if (reads && !all_written) read_unwritten(t);
    if (s.kind == access_kind::atomic) m.written.mark(t.at, t.bytes);
    look_closer(t);
  }
}

// The number of the site that stands for an access which no op describes.
std::uint32_t checker::extra_site(const warp_event& e, const range_event& r) {
  const auto [found, is_new] =
      extra_numbers_.try_emplace({e.at, r.kind, r.order, r.asynchronous}, no_site);
  if (!is_new) return found->second;
  found->second = static_cast<std::uint32_t>(code_->accesses.size() + extra_sites_.size());
  access_site& s = extra_sites_.emplace_back();
  const program_function& f = code_->function_of(e.at);
  while (&code_->functions[s.function] != &f) ++s.function;
  s.instruction = code_->instruction[static_cast<std::size_t>(place_number(e.at))];
  s.space = r.space;
  s.kind = r.kind;
  s.order = r.order;
  s.scope = sync_scope::block;
  s.asynchronous = r.asynchronous;
  s.bytes = s.element_bytes = static_cast<std::uint8_t>(std::min<std::uint64_t>(r.bytes, 128));
  return found->second;
}

void checker::access_range(const warp_event& e, const range_event& r) {
  const bool shared = r.space == memory_space::shared;
  watched_memory& m = shared ? *current_->shared : *global_;
  const std::uint32_t number = extra_site(e, r);
  access_site s = site_at(number);
  if (!r.inside) {
    std::uint64_t address[lanes] = {};
    address[r.lane] = r.address;
    outside({&s, number, r.space, 1u << r.lane, e.warp, address, 0, 0, e.at}, r.lane, r.address);
    told_ = instruction_of(e.at);
    return;
  }
  const std::uint64_t at = shared ? r.address : r.address - device_base_;
  if (at >= m.bytes_watched) return;
  touch_pages(m, at, r.bytes);
  if (r.asynchronous) {
    current_->clock.warps[e.warp].copies_pending = true;
    current_->clock.uses_copies = true;
  }
  for (std::uint64_t k = 0; k < r.bytes; k += 16) {
    const std::uint64_t n = std::min<std::uint64_t>(16, r.bytes - k);
    const touch t{&m, &s, number, at + k, n, r.lane, e.warp, e.at};
    if (r.kind != access_kind::store && !m.written.all(t.at, n)) read_unwritten(t);
    if (r.kind != access_kind::load) m.written.mark(t.at, n);
    look_closer(t);
  }
}

// --- what goes to the order --------------------------------------------------------------------

void checker::warp_met(const warp_event& e, bool orders_memory) {
  if (!orders_memory) return;
  block_clock& b = state().clock;
  order_.warp_met(b, b.first_warp + e.warp, e.lanes, state().now->warps[e.warp].alive);
}

void checker::fenced(const warp_event& e, memory_order o, sync_scope s) {
  order_.fenced(state().clock, e, o, s);
}

void checker::committed_copies(const warp_event& e) {
  order_.committed_copies(state().clock.warps[e.warp]);
}

void checker::waited_for_copies(const warp_event& e, int groups_left) {
  warp_clock& w = state().clock.warps[e.warp];
  order_.waited_for_copies(w, groups_left);
  if (w.copy_groups.empty()) w.copies_pending = false;
}

void checker::arrived_at(const warp_event& e, int lane, std::uint64_t shared_offset) {
  block_clock& b = state().clock;
  order_.arrive(b, b.first_warp + e.warp, lane, {shared_offset, std::uint64_t{b.index} + 1});
}

void checker::saw_phase(const warp_event& e, int lane, std::uint64_t shared_offset) {
  block_clock& b = state().clock;
  order_.see_phase(b, b.first_warp + e.warp, lane, {shared_offset, std::uint64_t{b.index} + 1});
}

}  // namespace stepwise::emulator
