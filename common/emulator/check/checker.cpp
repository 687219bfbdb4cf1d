// The part of the checker that receives events: launches, accesses, and what orders them.
#include "common/emulator/check/checker.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace stepwise::emulator {
namespace {

constexpr std::size_t most_launches = 10000;

// Half of the host's memory may be spent on what is remembered of global memory.
std::uint64_t most_pages() {
  const auto host = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                    static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::max<std::uint64_t>(1024,
                                 host / 2 / (memory_cells::page_bytes / 4 * cells::bytes_per_cell));
}

}  // namespace

checker::watched_memory::watched_memory(std::uint64_t size, std::uint64_t most_pages)
    : cells(size, most_pages), written(size + 64), bytes_watched(size) {}

checker::checker(const gpu& model, global_memory& memory)
    : model_(model),
      memory_(memory),
      device_base_(memory.device_base()),
      global_(std::make_unique<watched_memory>(memory.reserved_bytes(), most_pages())) {}

checker::~checker() = default;

// --- launches and blocks -----------------------------------------------------------------------

void checker::begin_launch(const launch_info& info) {
  code_ = info.code;
  config_ = info.config;
  context_ = info.state;
  block_warps_ = info.warps;
  launch_origin_ = origin_;
  failure_ = {};
  missing_shared_ = {};
  host_flags_ = {};
  windows_.assign(code_->accesses.size(), {});
  extra_sites_.clear();
  extra_numbers_.clear();
  lines_of_sites_.clear();
  first_windows_.assign(code_->accesses.size(), {});
  told_ = {nullptr, -1};
  fences_system_ = false;
  copy_ = {};
  bulk_write_ = {};
  note_unfollowed_launch();
  begin_work();
  order_.begin_launch(block_warps_);
  walks_.begin_launch();
}

status checker::end_launch(const status& failure) {
  note_walks();
  settle_unwritten();
  blocks_.clear();
  unused_.clear();
  current_ = nullptr;
  tell_missing_shared();
  note_host_flags();
  launches_.push_back(
      {order_.current_work(), code_, config_->grid, config_->block, block_warps_, fences_system_});
  if (launches_.size() > most_launches) launches_.pop_front();
  return failure.ok() ? failure_ : failure;
}

void checker::begin_block(const block& b) {
  auto& slot = blocks_[&b];
  if (slot == nullptr) {
    if (unused_.empty()) {
      slot = std::make_unique<block_state>();
      slot->shared = std::make_unique<watched_memory>(context_->shared_bytes, ~std::uint64_t{0});
      slot->shared->is_shared = true;
    } else {
      slot = std::move(unused_.back());
      unused_.pop_back();
    }
  }
  slot->now = &b;
  slot->first_exit.reset();
  slot->exited = 0;
  slot->met_apart = false;
  slot->turnings.resize(block_warps_);
  for (auto& t : slot->turnings) t.clear();
  slot->has_turnings = false;
  slot->left_at.reset();
  for (auto& a : slot->arrivals) a.clear();
  slot->shared->written.clear(0, context_->shared_bytes);
  slot->stored_at = 0;
  slot->kept.clear();
  slot->bulk.clear();
  order_.begin_block(slot->clock, b.index, block_warps_);
}

void checker::end_block(const block& b) {
  const auto found = blocks_.find(&b);
  if (found == blocks_.end()) return;
  end_bulk_loads(*found->second);
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

std::uint32_t checker::access(const access_event& e) {
  if (e.site->counted_only) {
    if (!e.site->matrix) visit_copy(e);
    return e.active;
  }
  switch (e.space) {
    case memory_space::global:
      return visit(e, *global_, device_base_);
    case memory_space::shared:
      if (!current_->bulk.empty()) [[unlikely]]
        use_of_bulk(e);
      return visit(e, *current_->shared, 0);
    case memory_space::local:
      return in_bounds_local(e);
    default:
      return e.active;
  }
}

// A load of shared memory that nothing before it speaks against may wait: see kept_loads.hpp.
inline bool checker::keep_back(const access_event& e) {
  block_state& b = *current_;
  const watched_memory& m = *b.shared;
  const access_site& s = *e.site;
  const access_shape& shape = *e.shape;
  if (s.kind != access_kind::load || s.order != memory_order::weak ||
      b.stored_at >= std::min(b.clock.barrier, b.clock.copies_known))
    return false;
  const std::uint64_t first = e.address[shape.first];
  if (shape.runs == 0) {
    for (std::uint32_t l = e.active; l != 0; l &= l - 1)
      if (!m.written.all_aligned(e.address[__builtin_ctz(l)], s.bytes)) return false;
  } else {
    for (unsigned n = 0; n < shape.runs; ++n)
      if (!m.written.all(first + shape.run[n].offset, std::uint64_t{s.bytes} * shape.run[n].count))
        return false;
  }
  if (b.kept_since != b.clock.barrier) {
    b.kept.clear();
    b.kept_since = b.clock.barrier;
  }
  if (b.kept.full()) note_kept_loads();
  b.kept.keep(e, b.clock.warps[e.warp].now);
  return true;
}

// Handles the usual case of a run that begins at `at`, in pages of grain `g`. Returns false, with
// nothing recorded, if this is not the usual case.
inline bool checker::visit_run(const access_site& s, watched_memory& m, grain g, const accessor& a,
                               std::uint64_t at, const lane_run& run, bool falls) {
  const std::uint64_t bytes = std::uint64_t{s.bytes} * run.count;
  const cells& c = m.cells.of(g);
  const std::uint64_t first = at >> log2_bytes(g);
  const unsigned per_lane = unsigned{s.bytes} >> log2_bytes(g);
  if (s.kind != access_kind::store)
    return m.written.all(at, bytes) &&
           load_row(c, first, per_lane, run.first_lanes, run.count, a, falls);
  const bool alone = (run.first_lanes & (run.first_lanes - 1)) == 0;
  if (!alone || !store_row(c, first, per_lane, run.first_lanes, run.count, a, falls)) return false;
  m.written.mark(at, bytes);
  return true;
}

// The lanes that may go on. Mostly all lie in the allocation of the last access and are remembered
// run by run; else lane by lane.
std::uint32_t checker::visit(const access_event& e, watched_memory& m, std::uint64_t base) {
  if (e.active == 0) return 0;
  const access_site& s = *e.site;
  const access_shape& shape = *e.shape;
  const std::uint64_t lowest = e.address[shape.first] + shape.low;
  if (!m.is_shared && lowest - base < m.bytes_watched) m.cells.prefetch(lowest - base);
  const access_window& window = windows_[e.index];
  const auto in_window = [&] {
    return shape.span <= window.bytes && lowest - window.base <= window.bytes - shape.span &&
           shape.aligned && (lowest & (s.bytes - 1)) == 0 && shape.active == e.active;
  };
  if (!in_window()) [[unlikely]] {
    const std::uint32_t allowed =
        m.is_shared ? in_bounds_shared(e, e.active) : in_bounds_global(e, e.active);
    if (allowed != e.active || !in_window()) {
      if (m.is_shared) end_keeping(e.warp, s.kind);
      if (!s.constant) visit_lanes(e, m, base, allowed);
      return allowed;
    }
  }
  if (m.is_shared) {
    if (keep_back(e)) return e.active;
    end_keeping(e.warp, s.kind);
  } else if (s.kind != access_kind::load) {
    note_walks();
  }
  // Registered memory of the host's lies elsewhere and is not watched.
  if (s.constant || lowest - base >= m.bytes_watched) return e.active;
  const accessor a = accessor_of(e.warp, e.index, m);
  const bool quick = s.order == memory_order::weak;
  const bool falls = shape.runs == 0 && shape.falling_runs != 0;
  if (shape.runs == 0 && !falls) {
    visit_lanes(e, m, base, quick ? visit_scattered(e, m, a, base) : e.active);
    return e.active;
  }
  const std::uint64_t first = e.address[shape.first] - base;
  const lane_run* const runs = falls ? shape.falling : shape.run;
  for (const lane_run* r = runs; r != runs + (falls ? shape.falling_runs : shape.runs); ++r) {
    const std::uint64_t at = first + r->offset;
    const grain g = m.cells.touch(at, std::uint64_t{s.bytes} * r->count, grain_for(s.bytes));
    if (!quick || g == grain::untouched || !visit_run(s, m, g, a, at, *r, falls))
      visit_lanes(e, m, base, r->lanes);
  }
  return e.active;
}

// Before an access of shared memory that does not wait.
void checker::end_keeping(std::uint32_t warp, access_kind kind) {
  note_kept_loads();
  if (kind != access_kind::load)
    current_->stored_at = std::max(current_->stored_at, current_->clock.warps[warp].now);
}

// Records the deferred loads in the cells, as if they happened now.
void checker::note_kept_loads() {
  block_state& b = *current_;
  if (b.kept.empty()) return;
  if (b.kept_since != b.clock.barrier) return b.kept.clear();
  memory_cells& c = b.shared->cells;
  for (const kept_loads::load& l : b.kept.all()) {
    accessor a = accessor_of(l.warp, l.site, *b.shared);
    a.now = l.now;
    const access_shape& shape = b.kept.shape(l.shape);
    const unsigned bytes = site_at(l.site).bytes;
    std::uint32_t alone = shape.runs == 0 ? shape.active : 0;
    for (unsigned n = 0; n < shape.runs; ++n) {
      const lane_run& r = shape.run[n];
      const std::uint64_t at = l.at + r.offset;
      const grain g = c.touch(at, std::uint64_t{bytes} * r.count, grain_for(bytes));
      if (g == grain::untouched)
        alone |= r.lanes;
      else
        note_load_row(c.of(g), at >> log2_bytes(g), bytes >> log2_bytes(g), r.first_lanes, r.count,
                      a);
    }
    for (; alone != 0; alone &= alone - 1) {
      const std::uint64_t at = l.at + shape.offset[__builtin_ctz(alone)];
      const grain g = c.touch(at, bytes, grain_for(bytes));
      for (std::uint64_t k = 0; k < bytes >> log2_bytes(g); ++k)
        note_load(c.of(g)[(at >> log2_bytes(g)) + k], alone & -alone, a);
    }
  }
  b.kept.clear();
}

// The usual case of lanes that lie apart; those for which it is not so.
std::uint32_t checker::visit_scattered(const access_event& e, watched_memory& m, const accessor& a,
                                       std::uint64_t base) {
  const std::uint64_t bytes = e.site->bytes;
  const bool stores = e.site->kind == access_kind::store;
  std::uint64_t at[lanes] = {};
  std::uint32_t usual = 0;
  const grain g = m.cells.touch(e.address[e.shape->first] - base, bytes, grain_for(bytes));
  for (std::uint32_t l = e.active; l != 0; l &= l - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(l));
    const std::uint64_t offset = e.address[lane] - base;
    at[lane] = offset >> log2_bytes(g);
    const bool is_usual = m.cells.touch(offset, bytes, grain_for(bytes)) == g &&
                          (stores || m.written.all_aligned(offset, static_cast<unsigned>(bytes)));
    usual |= is_usual ? l & -l : 0;
  }
  const auto per_lane = static_cast<unsigned>(bytes >> log2_bytes(g));
  if (!stores && usual == e.active && try_keep_walk(e, m, a, base, m.cells.of(g), at, per_lane))
    return 0;
  const std::uint32_t open = stores ? store_lanes(m.cells.of(g), at, per_lane, usual, a)
                                    : load_lanes(m.cells.of(g), at, per_lane, usual, a);
  for (std::uint32_t l = stores ? usual & ~open : 0; l != 0; l &= l - 1)
    m.written.mark(e.address[__builtin_ctz(l)] - base, bytes);
  return (e.active & ~usual) | open;
}

// Each lane for itself.
void checker::visit_lanes(const access_event& e, watched_memory& m, std::uint64_t base,
                          std::uint32_t lanes_in) {
  const access_site& s = *e.site;
  const bool reads = s.kind != access_kind::store, writes = s.kind != access_kind::load;
  for (std::uint32_t l = lanes_in & ~visit_ordered(e, m, base, lanes_in); l != 0; l &= l - 1) {
    const int lane = __builtin_ctz(l);
    const std::uint64_t at = e.address[lane] - base;
    if (at >= m.bytes_watched) continue;
    m.cells.touch(at, s.bytes, grain_for(s.bytes));
    const touch t{&m, &s, e.index, at, s.bytes, lane, e.warp, e.at, &e};
    if (reads && !m.written.all(at, s.bytes)) read_unwritten(t);
    if (writes) m.written.mark(at, s.bytes);
    look_closer(t);
  }
}

// The read or the write of a cp.async, which is the op after the two ops that describe them. Its
// lanes are also reported one by one. By then, lanes in whole rows have already been visited here.
void checker::visit_copy(const access_event& e) {
  const bool writes = e.site->kind == access_kind::store;
  const op* const copy = e.at + (writes ? 1 : 2);
  if (!writes || copy_.at != copy || copy_.warp != e.warp) copy_ = {copy, e.warp};
  (writes ? copy_.write_site : copy_.read_site) = e.index;
  (writes ? copy_.written : copy_.read) = visit_copied(e);
}

// Visits a copy's accesses. Returns the lanes for which they were the usual case.
std::uint32_t checker::visit_copied(const access_event& e) {
  const access_site& s = *e.site;
  const access_shape& shape = *e.shape;
  const bool writes = s.kind == access_kind::store;
  if (e.active == 0 || shape.active != e.active || shape.runs == 0 || !shape.aligned ||
      (e.space == memory_space::shared) != writes)
    return 0;
  // A lane may copy fewer bytes than the instruction's size.
  if (!writes && e.at->c != 0)
    for (std::uint32_t l = e.active; l != 0; l &= l - 1)
      if (context_->row<std::uint32_t>(e.at->c)[__builtin_ctz(l)] != s.bytes) return 0;
  const std::uint64_t lowest = e.address[shape.first] + shape.low;
  access_window& window = windows_[e.index];
  const auto in_window = [&] {
    return shape.span <= window.bytes && lowest - window.base <= window.bytes - shape.span;
  };
  if (!in_window()) {
    window = writes ? access_window{0, context_->shared_bytes}
                    : memory_.find(lowest).value_or(access_window());
    if (!in_window()) return 0;
  }
  watched_memory& m = writes ? *current_->shared : *global_;
  const std::uint64_t base = writes ? 0 : device_base_;
  if ((lowest & (s.bytes - 1)) != 0 || lowest - base >= m.bytes_watched) return 0;
  if (writes) end_keeping(e.warp, s.kind);
  const accessor a = accessor_of(e.warp, e.index, m);
  std::uint32_t usual = 0;
  for (const lane_run* r = shape.run; r != shape.run + shape.runs; ++r) {
    const std::uint64_t at = e.address[shape.first] - base + r->offset;
    const grain g = m.cells.touch(at, std::uint64_t{s.bytes} * r->count, grain_for(s.bytes));
    const bool is_usual = g != grain::untouched && visit_run(s, m, g, a, at, *r, false);
    usual |= is_usual ? r->lanes : visit_ordered(e, m, base, r->lanes);
  }
  warp_clock& w = current_->clock.warps[e.warp];
  if (writes) w.copied = w.now;
  return usual;
}

// The number of the site for an access which no op describes.
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
  const bool reads = r.kind == access_kind::load;
  const bool is_copy = e.at == copy_.at && e.warp == copy_.warp;
  if (is_copy && (((reads ? copy_.read : copy_.written) >> r.lane) & 1) != 0) return;
  if (shared) end_keeping(e.warp, r.kind);
  const std::uint32_t number =
      is_copy && r.inside ? (reads ? copy_.read_site : copy_.write_site) : extra_site(e, r);
  access_site s = site_at(number);
  if (!r.inside) {
    std::uint64_t address[lanes] = {};
    address[r.lane] = r.address;
    outside({&s, number, r.space, 1u << r.lane, e.warp, address, nullptr, e.at}, r.lane, r.address);
    told_ = instruction_of(e.at);
    return;
  }
  const std::uint64_t at = shared ? r.address : r.address - device_base_;
  if (at >= m.bytes_watched) return;
  if (!shared && shares_memory_) {
    if (const auto found = usable(r.address))
      kernel_uses(found->base, found->bytes, r.kind != access_kind::load);
  }
  if (shared && r.kind == access_kind::store && !r.asynchronous)
    bulk_write_ = {e.at, e.warp, r.lane, at, r.bytes};
  else if (shared && !current_->bulk.empty())
    use_of_bulk(e.at, e.warp, r.lane, at, r.bytes);
  m.cells.touch(at, r.bytes, grain::words);
  if (!shared && r.kind != access_kind::load) note_walks();
  if (r.asynchronous) {
    warp_clock& w = current_->clock.warps[e.warp];
    w.copied = w.now;
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
  state().bulk.met(e.warp, e.lanes);
  block_clock& b = state().clock;
  order_.warp_met(b, b.first_warp + e.warp, e.lanes, state().now->warps[e.warp].alive);
}

void checker::fenced(const warp_event& e, memory_order o, sync_scope s) {
  if (s != sync_scope::block) host_flags_.fenced = true;
  fences_system_ = fences_system_ || s == sync_scope::system;
  order_.fenced(state().clock, e, o, s);
}

void checker::committed_copies(const warp_event& e) {
  order_.committed_copies(state().clock.warps[e.warp]);
}

void checker::waited_for_copies(const warp_event& e, int groups_left) {
  order_.waited_for_copies(state().clock.warps[e.warp], groups_left);
}

void checker::arrived_at(const warp_event& e, int lane, std::uint64_t shared_offset) {
  block_clock& b = state().clock;
  note_bulk_load(e, lane, shared_offset);
  order_.arrive(b, b.first_warp + e.warp, lane, {shared_offset, std::uint64_t{b.index} + 1});
}

void checker::saw_phase(const warp_event& e, int lane, std::uint64_t shared_offset) {
  block_clock& b = state().clock;
  state().bulk.saw(shared_offset, phase_parity(shared_offset), e.warp, lane);
  order_.see_phase(b, b.first_warp + e.warp, lane, {shared_offset, std::uint64_t{b.index} + 1});
}

}  // namespace stepwise::emulator
