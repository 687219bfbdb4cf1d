// Compares accesses with those that the cells remember; race_report describes the races.
#include "common/emulator/check/races.hpp"

#include <algorithm>

namespace stepwise::emulator {

void race_check::begin_launch(const launch_info&) { walks_.begin_launch(); }

status race_check::end_launch(const status& failure) {
  note_walks();
  deferred_.end_launch();
  return failure;
}

void race_check::begin_block(const block& b) {
  deferred_loads& loads = deferred_.begin(b);
  loads.stored_at = 0;
  loads.kept.clear();
}

void race_check::look_closer(const lane_access& t) {
  shadow_memory& m = *t.memory;
  // The first bytes of shared memory are the system's: cooperative groups keep barriers there.
  if (m.is_shared && t.at < evidence_.code->system_shared_bytes) {
    if (is_strong(*t.site)) synchronise(t);
    return;
  }
  const accessor a = accessor_of(t.warp, t.number, m);
  const std::uint64_t end = t.at + t.bytes;
  m.cells.touch(t.at, t.bytes, grain_for(t.at | end));
  for (std::uint64_t at = t.at; at < end;) {
    const grain g = m.cells.grain_at(at);
    if (t.site->kind != access_kind::load) m.cells.of(g).forget_two_readers(at >> log2_bytes(g));
    check_cell(t, m.cells.of(g)[at >> log2_bytes(g)], a);
    at += std::uint64_t{1} << log2_bytes(g);
  }
  if (is_strong(*t.site)) synchronise(t);
}

void race_check::unit_ended(const lane_access& t, tick issued) {
  const accessor a = accessor_of(t.warp, t.number, *t.memory);
  const bool writes = t.site->kind != access_kind::load;
  const auto is_other = [&](tick when, std::uint32_t site, std::uint32_t warp) {
    return when > issued && site != t.number &&
           !(is_strong(*t.site) && both_strong(*t.site, site, warp));
  };
  for (std::uint64_t at = t.at; at < t.at + t.bytes;) {
    const grain g = t.memory->cells.grain_at(at);
    const cell c = t.memory->cells.of(g)[at >> log2_bytes(g)];
    const std::uint32_t writer = c.writer() / 32;
    lane_access here = t;
    here.has_ended = true;
    here.at = at;
    here.bytes = std::uint64_t{1} << log2_bytes(g);
    at += here.bytes;
    if (is_other(c.write_time(), c.write_site(), writer))
      conflict(here, writer, 1u << c.writer() % 32, c.write_site(), c.write_time(), true);
    else if (writes && is_other(c.read_time(), c.read_site(), c.reader()))
      conflict(here, c.reader(), c.read_lanes(), c.read_site(), c.read_time(), false);
    else
      check_cell(here, c, a);
  }
}

// The lanes of a warp of the launch: only a block's last warp may have fewer than 32.
std::uint32_t race_check::existing_lanes(std::uint32_t warp) const {
  const std::uint64_t rest = volume(evidence_.config->block) % lanes;
  return rest == 0 || (warp + 1) % evidence_.block_warps != 0 ? all_lanes : (1u << rest) - 1;
}

// A named barrier, a flag or a completed copy orders the two accesses, or both are atomic. One
// query about a warp covers all its accesses up to a tick.
std::uint32_t race_check::visit_ordered(const access_event& e, shadow_memory& m, std::uint64_t base,
                                        std::uint32_t lanes_in) {
  const access_site& s = *e.site;
  const block_clock& b = evidence_.running().clock;
  const bool atomic = s.kind == access_kind::atomic;
  if (is_strong(s) &&
      !(atomic && evidence_.sequence.orders_nothing(s, b.warps[e.warp], m.is_shared)))
    return 0;
  if (!order::lanes_know_the_same(b.warps[e.warp])) return 0;
  const bool stores = s.kind != access_kind::load, reads = s.kind != access_kind::store;
  const accessor a = accessor_of(e.warp, e.index, m);
  struct known {
    std::uint32_t warp = ~0u, site = no_site;
    tick upto = 0;
  };
  known writers, readers, older_readers;
  const auto is_ordered = [&](known& k, tick when, std::uint32_t warp, std::uint32_t site,
                              int lane) {
    if (atomic && both_strong(s, site, warp)) return true;
    if (warp == k.warp && site == k.site && when <= k.upto) return true;
    if (evidence_.sequence.unordered(b, a.warp, lane, when, warp, existing_lanes(warp)) != 0 ||
        (&k == &writers && m.is_shared && !copies_settled(e.warp, site, when, warp)))
      return false;
    k = {warp, site, when};
    return true;
  };
  const auto is_settled = [&](const cell& c, int lane) {
    const tick written = c.write_time(), read = stores ? c.read_time() : 0,
               older = stores ? c.older_time() : 0;
    return (written < a.writes_settled() ||
            is_ordered(writers, written, c.writer() / 32, c.write_site(), lane)) &&
           (read < a.settled || is_ordered(readers, read, c.reader(), c.read_site(), lane)) &&
           (older < a.settled ||
            is_ordered(older_readers, older, c.older_reader(), c.older_site(), lane));
  };
  std::uint32_t done = 0;
  for (std::uint32_t l = lanes_in; l != 0; l &= l - 1) {
    const int lane = __builtin_ctz(l);
    const std::uint64_t at = e.address[lane] - base;
    if (at >= m.bytes_watched || (m.is_shared && at < evidence_.code->system_shared_bytes))
      continue;
    const grain g = m.cells.touch(at, s.bytes, grain_for(at | s.bytes));
    if (g == grain::untouched || (reads && !m.written.all(at, s.bytes))) continue;
    const cells& c = m.cells.of(g);
    const std::uint64_t first = at >> log2_bytes(g), end = first + (s.bytes >> log2_bytes(g));
    bool settled = true;
    for (std::uint64_t n = first; settled && n < end; ++n) settled = is_settled(c[n], lane);
    if (!settled) continue;
    for (std::uint64_t n = first; n < end; ++n) {
      if (stores) {
        c.forget_two_readers(n);
        note_store(c[n], static_cast<unsigned>(lane), a);
      } else {
        note_load(c[n], l & -l, a);
      }
    }
    if (!reads) m.written.mark(at, s.bytes);
    done |= l & -l;
  }
  return done;
}

bool race_check::may_hold_copies(const cells& c, std::uint64_t first, std::uint64_t count,
                                 const accessor& a) const {
  const tick known = a.all_copies_known();
  if (known == ~tick{0}) return true;  // the caller has compared the cells without copies
  const auto is_copy = [&](tick when, std::uint32_t site) {
    return when >= known && site != no_site && evidence_.site_at(site).asynchronous;
  };
  for (std::uint64_t n = first; n < first + count;) {
    const group_summary& s = c.summaries[n / cell_group::size];
    if (s.is_spread == 0) {
      if (is_copy(s.write_time, s.write_site)) return true;
      n = (n / cell_group::size + 1) * cell_group::size;
    } else {
      const cell x = c[n++];
      if (is_copy(x.write_time(), x.write_site())) return true;
    }
  }
  return false;
}

void race_check::end_keeping(std::uint32_t warp, access_kind kind) {
  note_kept_loads();
  deferred_loads& loads = deferred_.current();
  if (kind != access_kind::load)
    loads.stored_at = std::max(loads.stored_at, evidence_.running().clock.warps[warp].now);
}

// Records the deferred loads in the cells, as if they happened now.
void race_check::note_kept_loads() {
  const checked_block& b = evidence_.running();
  deferred_loads& loads = deferred_.current();
  if (loads.kept.empty()) return;
  if (loads.kept_since != b.clock.barrier) return loads.kept.clear();
  memory_cells& c = b.shared->cells;
  for (const kept_loads::load& l : loads.kept.all()) {
    accessor a = accessor_of(l.warp, l.site, *b.shared);
    a.now = l.now;
    const access_shape& shape = loads.kept.shape(l.shape);
    const unsigned bytes = evidence_.site_at(l.site).bytes;
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
  loads.kept.clear();
}

// Does not keep the walk if a write to one of its cells may be unordered.
bool race_check::try_keep_walk(const access_event& e, shadow_memory& m, const accessor& a,
                               std::uint64_t base, const cells& c, const std::uint64_t* at,
                               unsigned per_lane) {
  if (m.is_shared) return false;
  for (std::uint32_t l = e.active; l != 0; l &= l - 1)
    for (unsigned k = 0; k < per_lane; ++k)
      if (c.write_time(at[__builtin_ctz(l)] + k) >= a.writes_settled()) return false;
  return walks_.try_keep(e, a, evidence_.line_number(e.index), e.address[e.shape->first] - base,
                         [this](const kept_walks::walk& w) { note_walk(w); });
}

void race_check::note_walks() {
  walks_.end_all([this](const kept_walks::walk& w) { note_walk(w); });
}

void race_check::note_walk(const kept_walks::walk& w) {
  memory_cells& all = evidence_.global.cells;
  constexpr std::uint64_t page = memory_cells::page_bytes;
  for (std::uint32_t l = w.active; l != 0; l &= l - 1) {
    std::uint64_t at = w.first + w.offset[__builtin_ctz(l)];
    const std::uint64_t end = at + w.loads * w.bytes;
    while (at < end) {
      const std::uint64_t stop = std::min(end, (at / page + 1) * page);
      const grain g = all.touch(at, stop - at, grain_for(w.bytes));
      const cells& c = all.of(g);
      std::uint64_t n = at >> log2_bytes(g);
      for (const std::uint64_t last = stop >> log2_bytes(g); n < last;) {
        const bool whole = n % cell_group::size == 0 && last - n >= cell_group::size;
        const unsigned count = whole ? cell_group::size : 1;
        note_load_row(c, n, count, l & -l, 1, w.by);
        n += count;
      }
      at = stop;
    }
  }
}

// Compares an access with the record of a cell, and adds it to the record.
void race_check::check_cell(const lane_access& t, const cell& c, const accessor& a) {
  const bool writes = t.site->kind != access_kind::load;
  const block_clock& b = evidence_.running().clock;
  const auto open_lanes = [&](tick when, std::uint32_t warp, std::uint32_t by, std::uint32_t site,
                              bool other_writes) -> std::uint32_t {
    if (when < (other_writes ? a.writes_settled() : a.settled) || when == 0) return 0;
    const std::uint32_t open = evidence_.sequence.unordered(b, a.warp, t.lane, when, warp, by);
    if (other_writes && t.memory->is_shared && !copies_settled(t.warp, site, when, warp)) return by;
    if (open == 0) return 0;
    if (is_strong(*t.site) && both_strong(*t.site, site, warp) && !in_step(t, site, warp)) return 0;
    return open;
  };
  const std::uint32_t writer = c.writer() / 32;
  const std::uint32_t writer_bit = std::uint32_t{1} << (c.writer() % 32);
  if (const auto open = open_lanes(c.write_time(), writer, writer_bit, c.write_site(), true))
    conflict(t, writer, open, c.write_site(), c.write_time(), true);
  if (!writes) return note_load(c, std::uint32_t{1} << t.lane, a);
  if (const auto open = open_lanes(c.read_time(), c.reader(), c.read_lanes(), c.read_site(), false))
    conflict(t, c.reader(), open, c.read_site(), c.read_time(), false);
  else if (const auto older =
               open_lanes(c.older_time(), c.older_reader(), c.older_lanes(), c.older_site(), false);
           older != 0 && c.older_reader() != a.warp)
    conflict(t, c.older_reader(), older, c.older_site(), c.older_time(), false);
  // A strong write does not make the lane's earlier weak write strong.
  const bool keeps = c.write_time() == a.now &&
                     c.writer() == a.warp * 32 + static_cast<std::uint32_t>(t.lane) &&
                     is_strong(*t.site) && !is_strong(evidence_.site_at(c.write_site()));
  if (!keeps) note_store(c, static_cast<unsigned>(t.lane), a);
}

// Strong accesses never race if the scope of each includes the other's thread.
bool race_check::both_strong(const access_site& s, std::uint32_t other,
                             std::uint32_t other_warp) const {
  if (other == no_site) return false;
  const access_site& o = evidence_.site_at(other);
  if (!is_strong(o)) return false;
  const bool same_block = other_warp / evidence_.block_warps == evidence_.running().clock.index;
  return same_block || (s.scope != sync_scope::block && o.scope != sync_scope::block);
}

// Whether lanes of a warp exchange values through volatile shared memory as if they ran in step.
// PTX does not call that a race, but nothing orders these accesses. The lanes of such an access use
// different words. When a flag is polled, one lane reads it, or all lanes read the same word.
bool race_check::in_step(const lane_access& t, std::uint32_t other,
                         std::uint32_t other_warp) const {
  const access_site& o = evidence_.site_at(other);
  return t.spread() && t.memory->is_shared && other_warp == first_warp() + t.warp &&
         t.site->is_volatile && o.is_volatile && t.site->kind != access_kind::atomic &&
         o.kind != access_kind::atomic;
}

// Whether the thread that issued an asynchronous copy to shared memory waited for it before the
// access by `own_warp` of its block. True if the write was not such a copy.
bool race_check::copies_settled(std::uint32_t own_warp, std::uint32_t other, tick when,
                                std::uint32_t writer) const {
  if (other == no_site || !evidence_.site_at(other).asynchronous) return true;
  const block_clock& b = evidence_.running().clock;
  if (writer - b.first_warp >= evidence_.block_warps) return true;
  const warp_clock& w = b.warps[writer - b.first_warp];
  return when < (writer - b.first_warp == own_warp ? w.copies_done : w.copies_done_at_barrier);
}

// Applies the effect of an atomic, volatile or ordered access to the order.
void race_check::synchronise(const lane_access& t) {
  block_clock& b = evidence_.running().clock;
  const order::key k{t.at, t.memory->is_shared ? std::uint64_t{t.memory->block} + 1 : 0};
  const std::uint32_t warp = b.first_warp + t.warp;
  if (t.site->kind != access_kind::store && !t.site->reduction)
    evidence_.sequence.strong_read(b, warp, t.lane, k, *t.site);
  if (t.site->kind != access_kind::load)
    evidence_.sequence.strong_write(b, warp, t.lane, k, *t.site);
}

void race_check::note_peer_access(checked_block& peer, const checked_block::peer_access& a) {
  const auto last = std::ranges::find(peer.by_peers, a.warp, &checked_block::peer_access::warp);
  if (last == peer.by_peers.end())
    peer.by_peers.push_back(a);
  else
    *last = a;
}

void race_check::check_exit(const block& b) {
  if (b.together == nullptr || b.alive != 0) return;
  const checked_block& own = evidence_.running();
  const auto is_known = [&](const checked_block::peer_access& p) {
    for (std::uint32_t w = 0; w < evidence_.block_warps; ++w)
      for (int lane = 0; lane < lanes; ++lane)
        if (evidence_.sequence.unordered(own.clock, own.clock.first_warp + w, lane, p.when, p.warp,
                                         std::uint32_t{1} << p.lane) == 0)
          return true;
    return false;
  };
  for (const auto& p : own.by_peers)
    if (!is_known(p)) report_.add_exit(own, p);
}

// Whether one of `other_lanes` makes an overlapping access at this moment, by this op.
bool race_check::at_once(const lane_access& t, std::uint32_t other_warp, std::uint32_t other_lanes,
                         std::uint32_t other_site) const {
  if (t.all == nullptr || other_site != t.number || other_warp != first_warp() + t.warp)
    return false;
  for (std::uint32_t l = other_lanes & t.all->active; l != 0; l &= l - 1) {
    const std::uint64_t mine = t.all->address[t.lane], other = t.all->address[__builtin_ctz(l)];
    if (mine < other + t.bytes && other < mine + t.bytes) return true;
  }
  return false;
}

race_between race_check::between(const lane_access& t, std::uint32_t other_warp,
                                 std::uint32_t other_lanes, std::uint32_t other_site, tick when) {
  const block_clock& b = evidence_.running().clock;
  if (evidence_.sequence.work_of(when) != evidence_.sequence.current_work())
    return race_between::streams;
  const access_site* const other = other_site != no_site ? &evidence_.site_at(other_site) : nullptr;
  if (t.site->unit != async_unit::none ||
      (other != nullptr && (other->asynchronous || other->unit != async_unit::none)))
    return race_between::copy;
  if (other_warp / evidence_.block_warps != b.index) return race_between::blocks;
  if (at_once(t, other_warp, other_lanes, other_site)) return race_between::one_store;
  if (other_warp == first_warp() + t.warp) return race_between::lanes;
  // In a loop, the two accesses may be from different iterations.
  const bool once = other_site == t.number && t.site->kind != access_kind::load &&
                    !evidence_.flow_of(evidence_.code->functions[t.site->function])
                         .is_in_loop(t.site->instruction);
  return once ? race_between::block_store : race_between::warps;
}

void race_check::conflict(const lane_access& t, std::uint32_t other_warp, std::uint32_t other_lanes,
                          std::uint32_t other_site, tick when, bool other_writes) {
  // Cooperative groups copy a remainder with several lanes, which write the same bytes.
  if (other_writes && t.site->asynchronous && other_site == t.number &&
      other_warp == evidence_.running().clock.first_warp + t.warp &&
      when == evidence_.running().clock.warps[t.warp].now)
    return;
  if (evidence_.is_library_line(t.number) && evidence_.is_library_line(other_site)) return;
  const bool past = evidence_.sequence.work_of(when) != evidence_.sequence.current_work();
  if (past && !t.memory->is_shared && evidence_.is_of_freed_memory(t.at, when)) return;
  const std::int64_t here = evidence_.line_number(t.number);
  const std::int64_t there =
      past ? -2 - std::int64_t{other_site} : evidence_.line_number(other_site);
  const finding_key k =
      evidence_.key(finding_kind::race, std::min(here, there), std::max(here, there),
                    evidence_.object_address(*t.memory, t.at));
  const bool was_unwritten = initialisation_.explain(k, t);
  const race_between who = between(t, other_warp, other_lanes, other_site, when);
  if (!evidence_.log.is_new_or_decisive(k, who)) return;
  evidence_.log.add(k, report_.of_threads(t, who, other_warp, other_lanes, other_site, when,
                                          other_writes, was_unwritten));
}

}  // namespace stepwise::emulator
