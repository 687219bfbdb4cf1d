// Loads, stores and atomics through L1 and the halves of L2, set by set.
#include "common/emulator/profile/caches.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/emulator/profile/requests.hpp"

namespace stepwise::emulator {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

unsigned count(u32 sectors) { return sectors_in(sectors); }

// Moves entry n of a set to its front, the place of the most recently used line.
inline u64& to_front(u64* set, unsigned n) {
  const u64 found = set[n];
  std::memmove(set + 1, set, n * sizeof *set);
  set[0] = found;
  return set[0];
}

// Bit k is set if entry k of the first `Count` has this number.
template <unsigned Count>
inline unsigned find_among(const u64* set, unsigned at, u64 number) {
  unsigned found = 0;
  for (unsigned k = 0; k < Count; ++k) found |= static_cast<unsigned>(set[k] >> at == number) << k;
  return found;
}

// The index of the entry whose bits from `at` up are `number` (the line number plus one), or `ways`
// if there is none. Sets have up to a few dozen ways, and lines are mostly near the front.
inline unsigned find(const u64* set, unsigned ways, unsigned at, u64 number) {
  unsigned n = 0;
  if (ways >= 4) {
    if (const unsigned found = find_among<4>(set, at, number); found != 0)
      return static_cast<unsigned>(std::countr_zero(found));
    n = 4;
  }
  for (; n + 8 <= ways; n += 8)
    if (const unsigned found = find_among<8>(set + n, at, number); found != 0)
      return n + static_cast<unsigned>(std::countr_zero(found));
  while (n < ways && set[n] >> at != number) ++n;
  return n;
}

// Adds the other sector of each pair, because memory is read in pairs.
u32 with_pairs(u32 sectors) {
  return sectors | ((sectors & 0b0101u) << 1) | ((sectors & 0b1010u) >> 1);
}

constexpr unsigned bytes_per_sector = 32;
constexpr unsigned l1_line_at = 8;  // in an entry of L1
// Bit positions in an entry of L2.
constexpr unsigned line_at = 22, dirty_at = 18, valid_at = 14;
constexpr u64 writer_mask = (u64{1} << valid_at) - 1;

}  // namespace

caches::caches(const gpu& model)
    : rules_(memory_rules_of(model)),
      multiprocessors_(static_cast<unsigned>(model.multiprocessors)) {
  const u64 lines_of_half =
      std::max<u64>(model.l2_bytes / 128 / rules_.l2_halves, 1u << sampled_bits);
  l2_sets_ =
      std::max(1u << sampled_bits, std::bit_floor(static_cast<unsigned>(lines_of_half / 12)));
  l2_ways_ = std::max(1u, static_cast<unsigned>(lines_of_half / l2_sets_));
}

void caches::clear_l1(u64 l1_bytes) {
  l1_ways_ = std::max(1u, static_cast<unsigned>(l1_bytes / 128 / l1_sets));
  l1_.assign(std::size_t{multiprocessors_} * l1_sets * l1_ways_, 0);
}

void caches::clear(u64 l1_bytes, std::size_t sites) {
  clear_l1(l1_bytes);
  l2_.assign(std::size_t{rules_.l2_halves} * l2_sets_ * l2_ways_, 0);
  counts_.assign(sites, {});
}

unsigned caches::home_of(u64 line) const {
  return rules_.l2_halves == 2 ? static_cast<unsigned>((line * 0x9e3779b97f4a7c15u) >> 63) : 0;
}

// The line's entry, moved to the front of its set. A new entry is empty.
caches::entry& caches::l2_line(unsigned half, u64 line) {
  entry* const e = l2_set(half, line);
  if (const unsigned n = find(e, l2_ways_, line_at, line + 1); n < l2_ways_) return to_front(e, n);
  const entry gone = e[l2_ways_ - 1];
  if (const u32 dirty = (gone >> dirty_at) & 0xf; dirty != 0)
    counts_[gone & writer_mask].dram_write_bytes += u64{bytes_per_sector} * count(dirty);
  to_front(e, l2_ways_ - 1) = (line + 1) << line_at;
  return e[0];
}

// Reads the missing sectors from memory.
u32 caches::fetch(entry& e, u32 sectors, cache_counts& c) {
  const u32 valid = (e >> valid_at) & 0xf;
  const u32 missing = sectors & ~valid;
  if (missing == 0) return 0;
  const u32 brought = (rules_.sectors_of_dram == 2 ? with_pairs(missing) : missing) & ~valid;
  c.dram_read_bytes += u64{bytes_per_sector} * count(brought);
  e |= u64{brought} << valid_at;
  return missing;
}

void caches::read_l2(unsigned multiprocessor, u64 line, u32 sectors, u32 site) {
  cache_counts& c = counts_[site];
  c.l2_sectors += count(sectors);
  if (!rules_.has_l2) {
    c.dram_read_bytes += u64{bytes_per_sector} * count(sectors);
    return;
  }
  const unsigned side = side_of(multiprocessor), home = home_of(line);
  entry& near = l2_line(side, line);
  const u32 missing = sectors & ~static_cast<u32>((near >> valid_at) & 0xf);
  c.l2_hits += count(sectors & ~missing);
  if (missing == 0) return;
  if (side == home) {
    fetch(near, missing, c);
  } else {
    fetch(l2_line(home, line), missing, c);
    near |= u64{missing} << valid_at;
  }
}

void caches::load(unsigned multiprocessor, u64 line, u32 sectors, u32 site) {
  cache_counts& c = counts_[site];
  c.sectors += count(sectors);
  entry* const set = l1_set(multiprocessor, line);
  if (const unsigned n = find(set, l1_ways_, l1_line_at, line + 1); n < l1_ways_) {
    entry& e = to_front(set, n);
    const u32 missing = sectors & ~static_cast<u32>(e & 0xf);
    c.l1_hits += count(sectors & ~missing);
    if (missing != 0) {
      read_l2(multiprocessor, line, missing, site);
      e |= missing;
    }
    return;
  }
  to_front(set, l1_ways_ - 1) = (line + 1) << l1_line_at | sectors;
  read_l2(multiprocessor, line, sectors, site);
}

void caches::load_around_l1(unsigned multiprocessor, u64 line, u32 sectors, u32 site) {
  counts_[site].sectors += count(sectors);
  read_l2(multiprocessor, line, sectors, site);
}

void caches::load_by_copy(unsigned multiprocessor, u64 line, u32 sectors, u32 site) {
  recent_line& last = recent_[(line * 0x9e3779b97f4a7c15u) >> 49];
  if (last.line == line + 1 && last.multiprocessor != multiprocessor)
    counts_[site].shared_sectors += count(sectors);
  last = {line + 1, multiprocessor};
  load_around_l1(multiprocessor, line, sectors, site);
}

// Stores write through to L2, and L1 keeps the sectors as far as they were written. Before 7.0, L1
// keeps no stored data.
void caches::store(unsigned multiprocessor, u64 line, u32 sectors, bool whole, u32 site) {
  cache_counts& c = counts_[site];
  c.sectors += count(sectors);
  entry* const set = l1_set(multiprocessor, line);
  unsigned n = find(set, l1_ways_, l1_line_at, line + 1);
  if (rules_.l1_keeps_stores) {
    if (n == l1_ways_) set[n = l1_ways_ - 1] = (line + 1) << l1_line_at;
    entry& e = to_front(set, n);
    c.l1_hits += count(sectors & static_cast<u32>(e | (e >> 4)) & 0xf);
    e |= u64{sectors} << 4;
    if (whole) e |= sectors;
  } else if (n < l1_ways_) {
    set[n] &= ~u64{sectors};
  }
  write_l2(multiprocessor, line, sectors, site);
}

void caches::write_l2(unsigned multiprocessor, u64 line, u32 sectors, u32 site) {
  cache_counts& c = counts_[site];
  c.l2_sectors += count(sectors);
  if (!rules_.has_l2) {
    c.dram_write_bytes += u64{bytes_per_sector} * count(sectors);
    return;
  }
  c.l2_hits += count(sectors);
  const unsigned side = side_of(multiprocessor), home = home_of(line);
  if (side != home) l2_line(side, line) |= u64{sectors} << valid_at;
  entry& kept = l2_line(home, line);
  kept = (kept & ~writer_mask) | std::min<u64>(site, writer_mask) | u64{sectors} << valid_at |
         u64{sectors} << dirty_at;
}

// Atomics are executed in L2, so L1's copies of their sectors become stale.
void caches::atomic(unsigned multiprocessor, u64 line, u32 sectors, u32 site) {
  cache_counts& c = counts_[site];
  c.sectors += count(sectors);
  entry* const set = l1_set(multiprocessor, line);
  if (const unsigned n = find(set, l1_ways_, l1_line_at, line + 1); n < l1_ways_)
    set[n] &= ~(u64{sectors} | u64{sectors} << 4);
  c.l2_sectors += count(sectors);
  if (!rules_.has_l2) {
    c.dram_read_bytes += u64{bytes_per_sector} * count(sectors);
    c.dram_write_bytes += u64{bytes_per_sector} * count(sectors);
    return;
  }
  entry& kept = l2_line(home_of(line), line);
  c.l2_hits += count(sectors & static_cast<u32>((kept >> valid_at) & 0xf));
  fetch(kept, sectors, c);
  kept = (kept & ~writer_mask) | std::min<u64>(site, writer_mask) | u64{sectors} << dirty_at;
}

}  // namespace stepwise::emulator
