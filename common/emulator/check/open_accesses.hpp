// Tests whether accesses that a cell remembers are unordered with a new access, as far as comparing
// ticks shows. The functions have no branches, so that loops around them vectorise.
#pragma once

#include "common/emulator/check/cell_groups.hpp"

namespace stepwise::emulator {
namespace {

using u32 = std::uint32_t;

#define STEPWISE_INTO_LOOPS [[gnu::always_inline]] inline

// Whether an access at time t, by a warp, is ordered before the accessor.
STEPWISE_INTO_LOOPS bool is_settled(u32 t, u32 warp, const accessor& a) {
  return (t < a.settled) |
         ((t < a.block_settled) & (t >= a.launch) & (warp - a.first_warp < a.block_warps));
}

// Whether a write is neither ordered before an access by thread `own` nor by `own` itself, or may
// not have finished.
STEPWISE_INTO_LOOPS bool open_write(u32 t, u32 writer, u32 own, const accessor& a) {
  return !((is_settled(t, writer / 32, a) & (t < a.copies_known)) |
           ((writer / 32 == a.warp) & ((writer == own) | (t < a.met)) & (t >= a.launch) &
            (t < a.own_copies_known)));
}

// Like open_write(), for a cell's readers and a store by the lane `bit`.
STEPWISE_INTO_LOOPS bool open_reads(u32 t, u32 reader, u32 lanes, u32 older, u32 older_reader,
                                    u32 bit, const accessor& a) {
  const bool own = (reader == a.warp) & ((lanes == bit) | (t < a.met)) & (t >= a.launch);
  return !((is_settled(t, reader, a) | own) & is_settled(older, older_reader, a));
}

// Whether a new read moves the last reader to the older one's place: if the last reader is
// unordered and the present older one is not.
STEPWISE_INTO_LOOPS bool moves_back(u32 t, u32 reader, u32 older, u32 older_reader,
                                    const accessor& a) {
  return (reader != a.warp) & !is_settled(t, reader, a) &
         (is_settled(older, older_reader, a) | (older_reader == a.warp));
}

#undef STEPWISE_INTO_LOOPS

}  // namespace
}  // namespace stepwise::emulator
