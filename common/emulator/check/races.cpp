// Races: two accesses of the same bytes, at least one a write, that nothing orders. findings.cpp
// says what they are.
#include <algorithm>
#include <cstring>

#include "common/emulator/check/checker.hpp"

namespace stepwise::emulator {
namespace {

bool is_strong(const access_site& s) { return s.order != memory_order::weak; }

}  // namespace

void checker::look_closer(const touch& t) {
  watched_memory& m = *t.memory;
  // The first bytes of shared memory are the system's: cooperative groups keep barriers there.
  if (m.is_shared && t.at < code_->system_shared_bytes) {
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

// The lanes of a warp of the launch: only a block's last warp may have fewer than 32.
std::uint32_t checker::existing_lanes(std::uint32_t warp) const {
  const std::uint64_t rest = volume(config_->block) % lanes;
  return rest == 0 || (warp + 1) % block_warps_ != 0 ? all_lanes : (1u << rest) - 1;
}

// Records the accesses of every lane that cannot race with an earlier access, although a comparison
// with the last barrier does not show it: a named barrier, a flag or a completed copy orders the
// two accesses, or both are atomic. One query about a warp covers all its accesses up to a tick.
// Returns the lanes that it recorded.
std::uint32_t checker::visit_ordered(const access_event& e, watched_memory& m, std::uint64_t base,
                                     std::uint32_t lanes_in) {
  const access_site& s = *e.site;
  const block_clock& b = current_->clock;
  const bool atomic = s.kind == access_kind::atomic;
  if (is_strong(s) && !(atomic && order_.orders_nothing(s, b.warps[e.warp], m.is_shared))) return 0;
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
    if (order_.unordered(b, a.warp, lane, when, warp, existing_lanes(warp)) != 0 ||
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
    if (at >= m.bytes_watched || (m.is_shared && at < code_->system_shared_bytes)) continue;
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

// Tries to keep a load whose lanes' addresses are not adjacent as part of a walk, and returns
// whether it did. It does not if a write to one of the cells may not be settled yet.
bool checker::try_keep_walk(const access_event& e, watched_memory& m, const accessor& a,
                            std::uint64_t base, const cells& c, const std::uint64_t* at,
                            unsigned per_lane) {
  if (m.is_shared) return false;
  for (std::uint32_t l = e.active; l != 0; l &= l - 1)
    for (unsigned k = 0; k < per_lane; ++k)
      if (c.write_time(at[__builtin_ctz(l)] + k) >= a.writes_settled()) return false;
  return walks_.try_keep(e, a, line_number(e.index), e.address[e.shape->first] - base,
                         [this](const kept_walks::walk& w) { note_walk(w); });
}

void checker::note_walks() {
  walks_.end_all([this](const kept_walks::walk& w) { note_walk(w); });
}

void checker::note_walk(const kept_walks::walk& w) {
  memory_cells& all = global_->cells;
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

// Compares one access with what is remembered of a cell, and writes it down.
void checker::check_cell(const touch& t, const cell& c, const accessor& a) {
  const bool writes = t.site->kind != access_kind::load;
  const block_clock& b = state().clock;
  const auto open_lanes = [&](tick when, std::uint32_t warp, std::uint32_t by, std::uint32_t site,
                              bool other_writes) -> std::uint32_t {
    if (when < (other_writes ? a.writes_settled() : a.settled) || when == 0) return 0;
    const std::uint32_t open = order_.unordered(b, a.warp, t.lane, when, warp, by);
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
                     is_strong(*t.site) && !is_strong(site_at(c.write_site()));
  if (!keeps) note_store(c, static_cast<unsigned>(t.lane), a);
}

// Strong accesses never race if the scope of each includes the other's thread.
bool checker::both_strong(const access_site& s, std::uint32_t other,
                          std::uint32_t other_warp) const {
  if (other == no_site) return false;
  const access_site& o = site_at(other);
  if (!is_strong(o)) return false;
  const bool same_block = other_warp / block_warps_ == current_->clock.index;
  return same_block || (s.scope != sync_scope::block && o.scope != sync_scope::block);
}

// Whether lanes of a warp exchange values through volatile shared memory as if they ran in step:
// all write, and all read others' words. PTX calls that no race, but nothing orders it either. A
// lane that polls a flag reads alone, or all lanes read the same.
bool checker::in_step(const touch& t, std::uint32_t other, std::uint32_t other_warp) const {
  const access_site& o = site_at(other);
  return t.spread() && t.memory->is_shared && other_warp == state_warp(t) && t.site->is_volatile &&
         o.is_volatile && t.site->kind != access_kind::atomic && o.kind != access_kind::atomic;
}

// Whether the thread that issued an asynchronous copy to shared memory waited for it before the
// access by `own_warp` of its block. True if the write was no such copy.
bool checker::copies_settled(std::uint32_t own_warp, std::uint32_t other, tick when,
                             std::uint32_t writer) const {
  if (other == no_site || !site_at(other).asynchronous) return true;
  const block_clock& b = current_->clock;
  if (writer - b.first_warp >= block_warps_) return true;
  const warp_clock& w = b.warps[writer - b.first_warp];
  return when < (writer - b.first_warp == own_warp ? w.copies_done : w.copies_done_at_barrier);
}

// What an atomic, volatile or ordered access does to the order, beside its own bytes.
void checker::synchronise(const touch& t) {
  block_clock& b = state().clock;
  const order::key k{t.at, t.memory->is_shared ? std::uint64_t{b.index} + 1 : 0};
  const std::uint32_t warp = b.first_warp + t.warp;
  if (t.site->kind != access_kind::store && !t.site->reduction)
    order_.strong_read(b, warp, t.lane, k, *t.site);
  if (t.site->kind != access_kind::load) order_.strong_write(b, warp, t.lane, k, *t.site);
}

// Whether a store writes what is there already.
bool checker::same_value(const touch& t, int other_lane) const {
  const access_site& s = *t.site;
  if (s.kind != access_kind::store || s.value_bytes == 0 || s.element_bytes == 0) return false;
  const std::byte* const memory =
      t.memory->is_shared ? context_->shared + t.at : memory_.host(device_base_ + t.at);
  for (unsigned k = 0; k * s.element_bytes < s.bytes; ++k) {
    const std::byte* const row = context_->registers + s.values[k];
    // Two lanes of one instruction: nothing is in memory yet.
    const std::byte* const old = other_lane >= 0
                                     ? row + static_cast<unsigned>(other_lane) * s.value_bytes
                                     : memory + k * s.element_bytes;
    if (std::memcmp(old, row + static_cast<unsigned>(t.lane) * s.value_bytes, s.element_bytes) != 0)
      return false;
  }
  return true;
}

// Whether one of those lanes does the same access at this moment: nothing can come between the two.
bool checker::at_once(const touch& t, std::uint32_t other_warp, std::uint32_t other_lanes,
                      std::uint32_t other_site) const {
  if (t.all == nullptr || other_site != t.number || other_warp != state_warp(t)) return false;
  for (std::uint32_t l = other_lanes & t.all->active; l != 0; l &= l - 1) {
    const std::uint64_t mine = t.all->address[t.lane], other = t.all->address[__builtin_ctz(l)];
    if (mine < other + t.bytes && other < mine + t.bytes) return true;
  }
  return false;
}

race_between checker::between(const touch& t, std::uint32_t other_warp, std::uint32_t other_lanes,
                              std::uint32_t other_site, tick when) {
  const block_clock& b = current_->clock;
  if (order_.work_of(when) != order_.current_work()) return race_between::streams;
  if (other_site != no_site && site_at(other_site).asynchronous) return race_between::copy;
  if (other_warp / block_warps_ != b.index) return race_between::blocks;
  if (at_once(t, other_warp, other_lanes, other_site)) return race_between::one_store;
  if (other_warp == state_warp(t)) return race_between::lanes;
  // In a loop, one of the two may be an iteration behind.
  const bool once = other_site == t.number && t.site->kind != access_kind::load &&
                    !flow_of(code_->functions[t.site->function]).is_in_loop(t.site->instruction);
  return once ? race_between::block_store : race_between::warps;
}

checker::site_line checker::line_of(std::uint32_t site) {
  // Without lines, every site is one of its own; so is one that only another launch has.
  const site_line alone{std::int64_t{site} + (std::int64_t{1} << 40), false};
  if (site >= code_->accesses.size() + extra_sites_.size()) return alone;
  if (site >= lines_of_sites_.size()) lines_of_sites_.resize(site + 1);
  site_line& line = lines_of_sites_[site];
  if (line.number >= 0) return line;
  const access_site& s = site_at(site);
  const code_place at = places_.of(*code_, s.function, s.instruction);
  line = alone;
  if (at.line != 0)
    line.number =
        line_numbers_
            .try_emplace({at.file, at.line}, static_cast<std::int64_t>(line_numbers_.size()))
            .first->second;
  line.is_library = places_.is_library(*code_, s.function, s.instruction);
  return line;
}

void checker::conflict(const touch& t, std::uint32_t other_warp, std::uint32_t other_lanes,
                       std::uint32_t other_site, tick when, bool other_writes) {
  // Several lanes of one asynchronous copy bring the same bytes: so cooperative groups copy a rest.
  if (other_writes && t.site->asynchronous && other_site == t.number &&
      other_warp == state().clock.first_warp + t.warp && when == state().clock.warps[t.warp].now)
    return;
  if (is_library_line(t.number) && is_library_line(other_site)) return;
  const bool past = order_.work_of(when) != order_.current_work();
  if (past && !t.memory->is_shared && is_of_freed_memory(t.at, when)) return;
  const std::int64_t here = line_number(t.number);
  const std::int64_t there = past ? -2 - std::int64_t{other_site} : line_number(other_site);
  const finding_key k = key(finding_kind::race, std::min(here, there), std::max(here, there),
                            object_address(*t.memory, t.at));
  if (!unwritten_.empty()) unwritten_.explain(k, t.at, t.bytes, owner_of(*t.memory, state().clock));
  const race_between who = between(t, other_warp, other_lanes, other_site, when);
  if (!log_.is_new_or_decisive(k, who)) return;
  log_.add(k, race(t, who, other_warp, other_lanes, other_site, when, other_writes));
}

}  // namespace stepwise::emulator
