// Half-warps, segments and banks of the generations before 7.0.
#include "common/emulator/profile/older_requests.hpp"

#include <algorithm>
#include <bit>

namespace stepwise::emulator {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
constexpr unsigned warp_lanes = 32, half_warp_lanes = 16, half_warp_banks = 16;

// Calls `each` with every active lane's number.
template <class Each>
void for_lanes(u32 lanes, Each each) {
  for (; lanes != 0; lanes &= lanes - 1) each(static_cast<unsigned>(std::countr_zero(lanes)));
}

u32 lanes_of_group(unsigned group, unsigned size) {
  return size == warp_lanes ? ~u32{0} : ((u32{1} << size) - 1) << (group * size);
}

// --- global memory of 1.2 and 1.3 ----------------------------------------------------------------

// Removes unused halves of a line's segment, and returns the sectors that remain.
u32 shrunk(u32 touched, u32 segment) {
  while (segment == 0xf && ((touched & 0b0011) == 0 || (touched & 0b1100) == 0))
    segment = (touched & 0b0011) != 0 ? 0b0011 : 0b1100;
  if (std::popcount(segment) == 2 && std::popcount(touched) == 1) segment = touched;
  return segment;
}

void touch_segments(const u64* address, u32 active, unsigned bytes, touched_lines& out) {
  const unsigned sectors = bytes == 1 ? 1 : bytes == 2 ? 2 : 4;
  out.count = 0;
  for (unsigned half = 0; half < 2; ++half) {
    for (u32 left = active & lanes_of_group(half, half_warp_lanes); left != 0;) {
      const u64 first_sector = address[std::countr_zero(left)] / sector_bytes / sectors * sectors;
      u32 touched = 0, served = 0;
      for_lanes(left, [&](unsigned l) {
        const u64 sector = address[l] / sector_bytes;
        if (sector / sectors * sectors != first_sector) return;
        touched |= u32{1} << sector % 4;
        served |= u32{1} << l;
      });
      const u32 segment = ((u32{1} << sectors) - 1) << first_sector % 4;
      out.lines[out.count++] = {first_sector / 4, shrunk(touched, segment)};
      left &= ~served;
    }
  }
}

// --- shared memory -------------------------------------------------------------------------------

// The wavefronts of a half-warp of 1.x, for accesses of at most a word. A wavefront serves one lane
// of every bank and, for a load, all lanes that read the lowest lane's word.
unsigned wavefronts_of_half(const u64* offset, u64 further, u32 lanes, bool broadcasts) {
  unsigned count = 0;
  for (u32 left = lanes; left != 0; ++count) {
    const u64 word = (offset[std::countr_zero(left)] + further) / 4;
    u32 served = 0, banks = 0;
    if (broadcasts) {
      banks = u32{1} << word % half_warp_banks;
      for_lanes(left, [&](unsigned l) {
        if ((offset[l] + further) / 4 == word) served |= u32{1} << l;
      });
    }
    for_lanes(left & ~served, [&](unsigned l) {
      const u32 bank = u32{1} << (offset[l] + further) / 4 % half_warp_banks;
      if ((banks & bank) != 0) return;
      banks |= bank;
      served |= u32{1} << l;
    });
    left &= ~served;
  }
  return count;
}

// The banks for accesses of one width. Address p lies in bank p / place modulo `banks`. `group`
// lanes are served together, and one `row` of a bank is read at once.
struct bank_layout {
  unsigned group, place, banks, row;

  bank_layout(const memory_rules& rules, unsigned bytes) {
    place = std::max(4u, bytes);
    group = std::min(warp_lanes, 32 * rules.bank_bytes / place);
    banks = std::min(32u, 32 * rules.bank_bytes / place);
    // With 4-byte accesses, an 8-byte word holds words i and i + 32 of 64.
    row = place * banks * (place < rules.bank_bytes ? rules.bank_bytes / place : 1);
  }
};

// The most rows of one bank that the lanes access, or the most lanes if the lanes are serialised,
// as for atomics.
unsigned most_of_a_bank(const u64* offset, u32 lanes, const bank_layout& b, bool serialises) {
  u64 rows[warp_lanes][warp_lanes];
  unsigned counts[warp_lanes] = {}, most = 0;
  for_lanes(lanes, [&](unsigned l) {
    const auto bank = static_cast<unsigned>(offset[l] / b.place % b.banks);
    const u64 row = offset[l] / b.row;
    u64* const end = rows[bank] + counts[bank];
    if (!serialises && std::find(rows[bank], end, row) != end) return;
    *end = row;
    most = std::max(most, ++counts[bank]);
  });
  return most;
}

unsigned pieces_of(unsigned bytes) { return std::max(1u, bytes / 4); }

}  // namespace

void touch_older(const memory_rules& rules, const u64* address, u32 active, unsigned bytes,
                 bool loads, touched_lines& out) {
  if (rules.global != global_requests::segments) {
    touch(address, active, bytes, out);
    if (rules.global == global_requests::lines && loads)
      for (unsigned n = 0; n < out.count; ++n) out.lines[n].sectors = 0xf;
  } else {
    touch_segments(address, active, bytes, out);
  }
  out.sectors = 0;
  for (unsigned n = 0; n < out.count; ++n) out.sectors += sectors_in(out.lines[n].sectors);
}

unsigned older_wavefronts(const memory_rules& rules, shared_use use, const u64* offset, u32 active,
                          unsigned bytes) {
  const bool loads = use == shared_use::load,
             atomic = use == shared_use::atomic || use == shared_use::compare_and_swap;
  unsigned sum = 0;
  if (rules.half_warps) {
    // Wider accesses are split into word accesses.
    for (unsigned piece = 0; piece < pieces_of(bytes); ++piece)
      for (unsigned half = 0; half < 2; ++half)
        sum += wavefronts_of_half(offset, u64{4} * piece,
                                  active & lanes_of_group(half, half_warp_lanes), loads);
  } else {
    const bank_layout b(rules, bytes);
    for (unsigned g = 0; g < warp_lanes / b.group; ++g)
      sum += most_of_a_bank(offset, active & lanes_of_group(g, b.group), b, atomic);
  }
  return use == shared_use::compare_and_swap ? 2 * sum : sum;
}

unsigned older_ideal_wavefronts(const memory_rules& rules, shared_use use, u32 active,
                                unsigned bytes, unsigned taken) {
  const unsigned size = rules.half_warps ? half_warp_lanes : bank_layout(rules, bytes).group;
  unsigned groups = 0;
  for (unsigned g = 0; g < warp_lanes / size; ++g)
    groups += (active & lanes_of_group(g, size)) != 0;
  if (rules.half_warps) groups *= pieces_of(bytes);
  return std::min(taken, use == shared_use::compare_and_swap ? 2 * groups : groups);
}

}  // namespace stepwise::emulator
