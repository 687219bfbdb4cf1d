// Groups lanes by lines and sectors, or by bank slots, with fast paths for common shapes.
#include "common/emulator/profile/requests.hpp"

#include <algorithm>
#include <bit>

namespace stepwise::emulator {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
constexpr u32 every_lane = 0xffffffffu;

int first_of(u32 mask) { return std::countr_zero(mask); }

// Adds sectors of a line. Lanes usually come in order, so the newest line is checked first, and a
// line above all other lines is new.
inline void add(touched_lines& out, u64& highest, u64 line, u32 sectors) {
  if (out.count == 0 || line > highest) {
    out.lines[out.count++] = {line, sectors};
    highest = line;
    return;
  }
  for (unsigned n = out.count; n-- > 0;) {
    if (out.lines[n].line == line) {
      out.lines[n].sectors |= sectors;
      return;
    }
  }
  out.lines[out.count++] = {line, sectors};
}

void count_sectors(touched_lines& out) {
  out.sectors = 0;
  for (unsigned n = 0; n < out.count; ++n) out.sectors += sectors_in(out.lines[n].sectors);
}

// Whether all lanes are contiguous, or all are at one address.
enum class layout { other, row, one_place };
inline layout layout_of(const u64* at, unsigned bytes) {
  u64 gaps = 0, differences = 0;
  for (unsigned l = 0; l < 32; ++l) {
    const u64 d = at[l] - at[0];
    differences |= d;
    gaps |= d ^ static_cast<u64>(l * bytes);
  }
  return gaps == 0 ? layout::row : differences == 0 ? layout::one_place : layout::other;
}

}  // namespace

void touch_runs(u64 from, const access_shape& shape, unsigned bytes, touched_lines& out) {
  out.count = 0;
  u64 highest = 0;
  const lane_run* const end = shape.run + shape.runs;
  for (const lane_run* r = shape.run; r != end; ++r) {
    const u64 first = from + r->offset, last = first + u64{bytes} * r->count - 1;
    u64 line = first / line_bytes;
    const u64 last_line = last / line_bytes;
    // The first line has its sectors from `first` on, the last line those up to `last`.
    u32 sectors = 0xfu & (0xfu << (first / sector_bytes % 4));
    for (; line != last_line; ++line, sectors = 0xf) add(out, highest, line, sectors);
    add(out, highest, line, sectors & (0xfu >> (3 - last / sector_bytes % 4)));
  }
  count_sectors(out);
}

namespace {

// A contiguous run of `length` bytes from `first` on.
void touch_row(u64 first, u64 length, touched_lines& out) {
  u64 sector = first / sector_bytes;
  const u64 last = (first + length - 1) / sector_bytes;
  out.sectors = static_cast<unsigned>(last - sector + 1);
  while (sector <= last) {
    const unsigned from = sector % 4;
    const unsigned to = static_cast<unsigned>(std::min<u64>(3, from + (last - sector)));
    out.lines[out.count++] = {sector / 4, (0xfu >> (3 - to)) & (0xfu << from)};
    sector += to - from + 1;
  }
}

// The banks form slots as wide as a lane's access, at least a word. The lanes of a warp form groups
// that fill the slots once. The lanes of a group are served together.
struct slots {
  unsigned shift, count;
  explicit slots(unsigned bytes)
      : shift(bytes <= 4 ? 2 : static_cast<unsigned>(std::countr_zero(bytes))),
        count(line_bytes >> shift) {}
  unsigned of(u64 unit) const { return static_cast<unsigned>(unit) & (count - 1); }
  u32 group(unsigned g) const {
    return count == 32 ? every_lane : ((u32{1} << count) - 1) << (g * count);
  }
  unsigned groups() const { return 32 / count; }
};

// The largest number of different units in one slot.
unsigned most_units_slowly(const u64* offset, u32 lanes, const slots& s) {
  u64 units[32][32];
  unsigned counts[32] = {};
  unsigned most = 0;
  for (u32 m = lanes; m != 0; m &= m - 1) {
    const u64 unit = offset[first_of(m)] >> s.shift;
    const unsigned slot = s.of(unit);
    unsigned& count = counts[slot];
    bool known = false;
    // Lanes usually come in order, and a unit above the newest one is new.
    if (count != 0 && unit <= units[slot][count - 1])
      known = std::find(units[slot], units[slot] + count, unit) != units[slot] + count;
    if (known) continue;
    // The newest unit remains the highest, so the comparison above is enough.
    if (count != 0 && unit < units[slot][count - 1]) {
      units[slot][count] = units[slot][count - 1];
      units[slot][count - 1] = unit;
    } else {
      units[slot][count] = unit;
    }
    most = std::max(most, ++count);
  }
  return most;
}

inline unsigned most_units(const u64* offset, u32 lanes, const slots& s) {
  u32 taken = 0;
  u64 by[32];
  for (u32 m = lanes; m != 0; m &= m - 1) {
    const u64 unit = offset[first_of(m)] >> s.shift;
    const unsigned slot = s.of(unit);
    if (((taken >> slot) & 1) == 0) {
      taken |= u32{1} << slot;
      by[slot] = unit;
    } else if (by[slot] != unit) {
      return most_units_slowly(offset, lanes, s);
    }
  }
  return taken != 0 ? 1 : 0;
}

// The largest number of lanes in one slot.
unsigned most_lanes(const u64* offset, u32 lanes, const slots& s) {
  unsigned counts[32] = {};
  unsigned most = 0;
  for (u32 m = lanes; m != 0; m &= m - 1)
    most = std::max(most, ++counts[s.of(offset[first_of(m)] >> s.shift)]);
  return most;
}

// True if lanes whose numbers differ in the lowest bit have the same address wherever both are
// active, or if lanes whose numbers differ in the next bit have the same address and are all
// active.
bool agree_in_pairs(const u64* offset, u32 lanes) {
  bool neighbours = true, next_but_one = true;
  for (u32 m = lanes; m != 0 && (neighbours || next_but_one); m &= m - 1) {
    const int l = first_of(m), a = l ^ 1, b = l ^ 2;
    if (((lanes >> a) & 1) != 0 && offset[l] != offset[a]) neighbours = false;
    if (((lanes >> b) & 1) == 0 || offset[l] != offset[b]) next_but_one = false;
  }
  return neighbours || next_but_one;
}

// Loads of 8 and 16 bytes: the two halves of a warp, or the two quarters of a half, are served
// together if their lanes agree in pairs. With inactive lanes, ncu's two metrics disagree with each
// other (`smsp__sass_...`, `l1tex__...`); 4 of 61 recorded partial accesses are off by one here.
unsigned load_wavefronts(const u64* offset, u32 active, const slots& s) {
  if (s.count == 32) return most_units(offset, active, s);
  unsigned sum = 0;
  for (unsigned g = 0; g < s.groups(); g += 2) {
    const u32 first = active & s.group(g), second = active & s.group(g + 1);
    if (first != 0 && second != 0 && agree_in_pairs(offset, first | second))
      sum += most_units(offset, first | second, s);
    else
      sum += most_units(offset, first, s) + most_units(offset, second, s);
  }
  return sum;
}

}  // namespace

void touch(const u64* address, u32 active, unsigned bytes, touched_lines& out) {
  out.count = 0;
  if (active == every_lane) {
    const layout how = layout_of(address, bytes);
    if (how == layout::row) return touch_row(address[0], u64{32} * bytes, out);
    if (how == layout::one_place) return touch_row(address[0], bytes, out);
  }
  u64 highest = 0;
  for (u32 m = active; m != 0; m &= m - 1) {
    const u64 at = address[first_of(m)];
    add(out, highest, at / line_bytes, u32{1} << (at / sector_bytes % 4));
  }
  count_sectors(out);
}

void touch_local(const u64* offset, u32 active, unsigned bytes, u64 first_line,
                 touched_lines& out) {
  out.count = 0;
  u64 highest = 0;
  for (u32 m = active; m != 0; m &= m - 1) {
    const int l = first_of(m);
    const u32 sector = u32{1} << (l / 8);
    for (unsigned b = 0; b < bytes; b += 4)
      add(out, highest, first_line + (offset[l] + b) / 4, sector);
  }
  count_sectors(out);
}

unsigned atomic_sectors(const u64* address, u32 active, touched_lines& out) {
  // Groups lanes by word, then words by sector.
  struct word {
    u64 address;
    unsigned lanes;
  };
  word words[32];
  unsigned count = 0;
  out.count = 0;
  u64 highest = 0;
  for (u32 m = active; m != 0; m &= m - 1) {
    const u64 at = address[first_of(m)];
    word* const known =
        std::find_if(words, words + count, [&](const word& w) { return w.address == at; });
    if (known == words + count) {
      words[count++] = {at, 1};
      add(out, highest, at / line_bytes, u32{1} << (at / sector_bytes % 4));
    } else {
      ++known->lanes;
    }
  }
  count_sectors(out);
  u64 sectors[32];
  unsigned passes[32], different = 0, sum = 0;
  for (unsigned n = 0; n < count; ++n) {
    const u64 sector = words[n].address / sector_bytes;
    const auto at =
        static_cast<unsigned>(std::find(sectors, sectors + different, sector) - sectors);
    if (at == different) {
      sectors[different] = sector;
      passes[different++] = 0;
    }
    passes[at] = std::max(passes[at], words[n].lanes);
  }
  for (unsigned n = 0; n < different; ++n) sum += passes[n];
  return sum;
}

u32 one_lane_per_address(const u64* address, u32 active) {
  u32 firsts = 0;
  for (u32 m = active; m != 0; m &= m - 1) {
    bool known = false;
    for (u32 f = firsts; f != 0 && !known; f &= f - 1)
      known = address[first_of(f)] == address[first_of(m)];
    if (!known) firsts |= m & -m;
  }
  return firsts;
}

unsigned wavefronts(shared_use use, const u64* offset, u32 active, unsigned bytes) {
  const slots s(bytes);
  if (use == shared_use::load) {
    if (active == every_lane && bytes == 4) {
      if (layout_of(offset, bytes) != layout::other) return 1;
    }
    return load_wavefronts(offset, active, s);
  }
  unsigned sum = 0;
  for (unsigned g = 0; g < s.groups(); ++g) {
    const u32 lanes = active & s.group(g);
    if (use == shared_use::store || use == shared_use::rows)
      sum += most_units(offset, lanes, s);
    else
      sum += most_lanes(offset, lanes, s);
  }
  return use == shared_use::compare_and_swap ? 2 * sum : sum;
}

namespace {

// The wavefronts in which the lanes of a group move the data that they read. A wavefront reads each
// cache slot for at most one lane, and writes each shared-memory slot for at most one lane. The
// last of the lanes that wait to read a slot is a candidate, and the first of the candidates that
// write to a slot moves its data.
unsigned moving_wavefronts(const u64* from, const u64* offset, u32 lanes, const slots& s) {
  unsigned count = 0;
  for (; lanes != 0; ++count) {
    int reader[32], writer[32];
    u32 read = 0, written = 0;
    for (u32 m = lanes; m != 0; m &= m - 1) {
      const int l = first_of(m);
      const unsigned slot = s.of(from[l] >> s.shift);
      read |= u32{1} << slot;
      reader[slot] = l;
    }
    for (u32 m = read; m != 0; m &= m - 1) {
      const int l = reader[first_of(m)];
      const unsigned slot = s.of(offset[l] >> s.shift);
      if (((written >> slot) & 1) == 0 || l < writer[slot]) writer[slot] = l;
      written |= u32{1} << slot;
    }
    for (u32 m = written; m != 0; m &= m - 1) lanes &= ~(u32{1} << writer[first_of(m)]);
  }
  return count;
}

}  // namespace

unsigned copy_wavefronts(const u64* from, const u64* offset, u32 active, unsigned bytes,
                         bool around_l1) {
  const slots s(bytes);
  if (!around_l1) {
    // Lanes that write zeros have separate wavefronts.
    u32 reading = 0;
    for (u32 m = active; m != 0; m &= m - 1)
      if (from[first_of(m)] != 0) reading |= m & -m;
    unsigned sum = 0;
    for (unsigned g = 0; g < s.groups(); ++g)
      sum += moving_wavefronts(from, offset, reading & s.group(g), s) +
             most_lanes(offset, active & ~reading & s.group(g), s);
    return sum;
  }
  // The copy handles a warp in quarters. A wavefront moves 16-byte pieces that come from one line,
  // go to one line, and keep their place in 64 bytes except for one exchange of neighbours and one
  // of pairs, the same for all. Zeros all come from one line. A quarter in which two lanes read one
  // piece is copied lane by lane. If several lanes write a piece, only the first lane counts; 12 of
  // 437 recorded accesses differ.
  struct way {
    u64 from, to;
    unsigned exchange;
    bool operator==(const way&) const = default;
  };
  u64 written[32];
  unsigned pieces = 0, count = 0;
  for (unsigned g = 0; g < s.groups(); ++g) {
    way ways[8];
    u64 read[8];
    unsigned different = 0, lanes = 0;
    bool read_again = false;
    for (u32 m = active & s.group(g); m != 0; m &= m - 1) {
      const int l = first_of(m);
      const u64 to = offset[l] / 16, source = from[l] / 16;
      if (std::find(written, written + pieces, to) != written + pieces) continue;
      written[pieces++] = to;
      read_again |= source != 0 && std::find(read, read + lanes, source) != read + lanes;
      read[lanes++] = source;
      const way w{source / 8, to / 8, source == 0 ? 4 : static_cast<unsigned>((source ^ to) & 3)};
      if (std::find(ways, ways + different, w) == ways + different) ways[different++] = w;
    }
    count += read_again ? lanes : different;
  }
  return count;
}

unsigned sectors_again(const u64* from, const u64* offset, u32 active) {
  u64 pieces[32], targets[32];  // of the lanes so far
  unsigned count = 0, again = 0;
  for (u32 m = active; m != 0; m &= m - 1) {
    const int l = first_of(m);
    if (from[l] == 0) continue;
    const u64 piece = from[l] / 16, to = offset[l] / sector_bytes;
    bool read_before = false, known = false;
    for (unsigned n = 0; n < count; ++n) {
      read_before |= pieces[n] == piece;
      known |= pieces[n] / 2 == piece / 2 && targets[n] == to;
    }
    again += read_before && !known;
    pieces[count] = piece, targets[count++] = to;
  }
  return again;
}

unsigned ideal_wavefronts(shared_use use, u32 active, unsigned bytes, unsigned taken) {
  const slots s(bytes);
  unsigned groups = 0;
  for (unsigned g = 0; g < s.groups(); ++g) groups += (active & s.group(g)) != 0;
  return std::min(taken, use == shared_use::compare_and_swap ? 2 * groups : groups);
}

swap_loop loop_of(const u64* offset, u32 active, unsigned bytes) {
  const slots s(bytes);
  swap_loop loop;
  for (u32 left = active; left != 0;) {
    ++loop.rounds;
    loop.load_wavefronts += load_wavefronts(offset, left, s);
    // In each group, one lane per slot succeeds, but only one lane per address.
    u32 winners = 0;
    for (unsigned g = 0; g < s.groups(); ++g) {
      const u32 lanes = left & s.group(g);
      if (lanes != 0) loop.swap_wavefronts += 2;
      u32 taken = 0;
      for (u32 m = lanes; m != 0; m &= m - 1) {
        const int l = first_of(m);
        const u32 slot = u32{1} << s.of(offset[l] >> s.shift);
        bool free = (taken & slot) == 0;
        for (u32 w = winners; free && w != 0; w &= w - 1) free = offset[first_of(w)] != offset[l];
        if (!free) continue;
        taken |= slot;
        winners |= u32{1} << l;
      }
    }
    left &= ~winners;
  }
  return loop;
}

}  // namespace stepwise::emulator
