// The exchanges of warp-wide operations: shuffles, votes, matches, reductions.
//
// source  PTX ISA 9.0, "shfl.sync", "vote.sync", "match.sync", "redux.sync". Tested by
//         tests/launch_test.cpp and ../tests/opcodes/.
#include <algorithm>
#include <array>

#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {

// The contribution of the lanes in `mask`: their source operands, or one bit each for a vote.
void scheduler::stage(const op* i, std::uint32_t mask, std::uint64_t* staged) const {
  const sync_site& site = code_.syncs[i->slot];
  const auto from_vreg = [&](const auto* vreg) {
    for (int l = 0; l < lanes; ++l)
      if ((mask >> l) & 1) staged[l] = vreg[l];
  };
  switch (site.kind) {
    case sync_kind::warp_barrier:
      return;
    case sync_kind::vote_all:
    case sync_kind::vote_any:
    case sync_kind::vote_uni:
    case sync_kind::vote_ballot: {
      const std::uint32_t p = x_.predicate(i->a) ^ (site.source_negated ? all_lanes : 0);
      for (int l = 0; l < lanes; ++l)
        if ((mask >> l) & 1) staged[l] = (p >> l) & 1;
      return;
    }
    case sync_kind::match_any64:
    case sync_kind::match_all64:
      return from_vreg(x_.vreg<std::uint64_t>(i->a));
    default:
      return from_vreg(x_.vreg<std::uint32_t>(i->a));
  }
}

namespace {

// Finds the lane that each lane reads, which is itself if the source is out of its segment's range.
// Returns the lanes whose source is in range. c is a segment mask (bits 8-12) and a clamp (bits
// 0-4); `operands` returns a lane's b and c.
template <class Operands>
std::uint32_t sources_of(sync_kind kind, Operands operands, int* sources) {
  int reads[lanes];
  const auto each = [&](auto source_of, auto in_range) {
    for (int l = 0; l < lanes; ++l) {
      const auto [b, c] = operands(l);
      const int segment = static_cast<int>((c >> 8) & 31), offset = static_cast<int>(b & 31);
      const int bound = (l & segment) | (static_cast<int>(c & 31) & ~segment);
      const int source = source_of(l, offset, segment);
      reads[l] = in_range(source, bound);
      sources[l] = reads[l] != 0 ? source : l;
    }
  };
  const auto not_above = [](int source, int bound) { return source <= bound; };
  switch (kind) {
    case sync_kind::shfl_up:
      each([](int l, int offset, int) { return l - offset; },
           [](int source, int bound) { return source >= bound; });
      break;
    case sync_kind::shfl_down:
      each([](int l, int offset, int) { return l + offset; }, not_above);
      break;
    case sync_kind::shfl_bfly:
      each([](int l, int offset, int) { return l ^ offset; }, not_above);
      break;
    default:
      each([](int l, int offset, int segment) { return (l & segment) | (offset & ~segment); },
           not_above);
      break;
  }
  std::uint32_t valid = 0;
  for (int l = 0; l < lanes; ++l) valid |= static_cast<std::uint32_t>(reads[l]) << l;
  return valid;
}

struct shuffle_operands {
  std::uint32_t b, c;
};

bool uniform(const std::uint32_t* vreg) {
  std::uint32_t unequal = 0;
  for (int l = 0; l < lanes; ++l) unequal |= vreg[l] ^ vreg[0];
  return unequal == 0;
}

std::uint32_t sources_of(sync_kind kind, const std::uint32_t* b, const std::uint32_t* c,
                         int* sources) {
  if (uniform(b) && uniform(c)) {  // the usual case; the rest is vector code
    const shuffle_operands same{b[0], c[0]};
    return sources_of(
        kind, [same](int) { return same; }, sources);
  }
  return sources_of(
      kind,
      [b, c](int l) {
        return shuffle_operands{b[l], c[l]};
      },
      sources);
}

// One bit per lane.
constexpr auto lane_bits = [] {
  std::array<std::uint32_t, lanes> bits{};
  for (int l = 0; l < lanes; ++l) bits[static_cast<std::size_t>(l)] = 1U << l;
  return bits;
}();

// Writes to same[l] the participants whose value equals lane l's.
template <class T>
void match(const T* values, std::uint32_t participants, std::uint32_t* same) {
  for (std::uint32_t m = participants; m != 0;) {
    const T value = values[first_lane(m)];
    std::uint32_t equal = 0;
    for (int l = 0; l < lanes; ++l)
      equal |= values[l] == value ? lane_bits[static_cast<std::size_t>(l)] : 0;
    equal &= participants;
    for (std::uint32_t e = equal; e != 0; e &= e - 1) same[first_lane(e)] = equal;
    m &= ~equal;
  }
}

std::uint32_t reduce(sync_kind kind, const std::uint64_t* staged, std::uint32_t participants) {
  std::uint32_t value = static_cast<std::uint32_t>(staged[first_lane(participants)]);
  for (std::uint32_t m = participants & (participants - 1); m != 0; m &= m - 1) {
    const std::uint32_t v = static_cast<std::uint32_t>(staged[first_lane(m)]);
    const auto less = [](std::uint32_t a, std::uint32_t b) {
      return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
    };
    switch (kind) {
      case sync_kind::redux_add:
        value += v;
        break;
      case sync_kind::redux_and:
        value &= v;
        break;
      case sync_kind::redux_or:
        value |= v;
        break;
      case sync_kind::redux_xor:
        value ^= v;
        break;
      case sync_kind::redux_min_u32:
        value = std::min(value, v);
        break;
      case sync_kind::redux_max_u32:
        value = std::max(value, v);
        break;
      case sync_kind::redux_min_s32:
        value = std::min(value, v, less);
        break;
      default:
        value = std::max(value, v, less);
        break;
    }
  }
  return value;
}

}  // namespace

// Exchanges of a whole warp at once: barriers, votes, shuffles and matches, which occur in loops.
// False for other operations, or if the lanes' membermasks differ.
bool scheduler::exchange_at_once(const op* i) {
  const sync_site& site = code_.syncs[i->slot];
  if (!uniform(x_.vreg<std::uint32_t>(site.members))) return false;
  const auto votes = [&] { return x_.predicate(i->a) ^ (site.source_negated ? all_lanes : 0); };
  const auto vote = [&](bool holds) { x_.predicate(i->d) = holds ? all_lanes : 0; };
  switch (site.kind) {
    case sync_kind::warp_barrier:
      return true;
    case sync_kind::vote_all:
      vote(votes() == all_lanes);
      return true;
    case sync_kind::vote_any:
      vote(votes() != 0);
      return true;
    case sync_kind::vote_ballot:
      std::fill_n(x_.vreg<std::uint32_t>(i->d), lanes, votes());
      return true;
    case sync_kind::shfl_up:
    case sync_kind::shfl_down:
    case sync_kind::shfl_bfly:
    case sync_kind::shfl_idx: {
      std::uint32_t out[lanes];
      int sources[lanes];
      const std::uint32_t valid = sources_of(site.kind, x_.vreg<std::uint32_t>(i->b),
                                             x_.vreg<std::uint32_t>(i->c), sources);
      const std::uint32_t* a = x_.vreg<std::uint32_t>(i->a);
      for (int l = 0; l < lanes; ++l) out[l] = a[sources[l]];
      std::copy_n(out, lanes, x_.vreg<std::uint32_t>(i->d));
      if (site.predicate != no_operand) x_.predicate(site.predicate) = valid;
      return true;
    }
    case sync_kind::match_any32: {
      std::uint32_t same[lanes];
      match(x_.vreg<std::uint32_t>(i->a), all_lanes, same);
      std::copy_n(same, lanes, x_.vreg<std::uint32_t>(i->d));
      return true;
    }
    default:
      return false;
  }
}

// Writes the results of the lanes in `mask`, from the values that all participants staged.
void scheduler::exchange(const op* i, std::uint32_t mask, const std::uint64_t* staged,
                         std::uint32_t participants) {
  const sync_site& site = code_.syncs[i->slot];
  const auto held_by = [&] {
    std::uint32_t held = 0;
    for (std::uint32_t m = participants; m != 0; m &= m - 1)
      if (staged[first_lane(m)] != 0) held |= m & -m;
    return held;
  };
  const auto set_predicate = [&](std::uint32_t vreg, std::uint32_t value) {
    std::uint32_t& p = x_.predicate(vreg);
    p = (p & ~mask) | (value & mask);
  };
  const auto set_lanes = [&](auto value_of) {
    std::uint32_t* d = x_.vreg<std::uint32_t>(i->d);
    for (std::uint32_t m = mask; m != 0; m &= m - 1) d[first_lane(m)] = value_of(first_lane(m));
  };
  switch (site.kind) {
    case sync_kind::warp_barrier:
      return;
    case sync_kind::elect:
      set_lanes([&](int) { return static_cast<std::uint32_t>(first_lane(participants)); });
      set_predicate(site.predicate, participants & -participants);
      return;
    case sync_kind::vote_all:
      set_predicate(i->d, held_by() == participants ? all_lanes : 0);
      return;
    case sync_kind::vote_any:
      set_predicate(i->d, held_by() != 0 ? all_lanes : 0);
      return;
    case sync_kind::vote_uni: {
      const std::uint32_t held = held_by();
      set_predicate(i->d, held == participants || held == 0 ? all_lanes : 0);
      return;
    }
    case sync_kind::vote_ballot:
      set_lanes([held = held_by()](int) { return held; });
      return;
    case sync_kind::shfl_up:
    case sync_kind::shfl_down:
    case sync_kind::shfl_bfly:
    case sync_kind::shfl_idx: {
      std::uint32_t out[lanes];
      int sources[lanes];
      const std::uint32_t valid = sources_of(site.kind, x_.vreg<std::uint32_t>(i->b),
                                             x_.vreg<std::uint32_t>(i->c), sources);
      for (int l = 0; l < lanes; ++l) out[l] = static_cast<std::uint32_t>(staged[sources[l]]);
      if (x_.watch != nullptr) {
        for (std::uint32_t m = mask; m != 0; m &= m - 1)
          if (const int l = first_lane(m); ((participants >> sources[l]) & 1) == 0)
            x_.watch->read_inactive_lane(event_at(i, mask), l, sources[l]);
      }
      set_lanes([&](int l) { return out[l]; });
      if (site.predicate != no_operand) set_predicate(site.predicate, valid);
      return;
    }
    case sync_kind::match_any32:
    case sync_kind::match_any64: {
      std::uint32_t same[lanes];
      match(staged, participants, same);
      set_lanes([&](int l) { return same[l]; });
      return;
    }
    case sync_kind::match_all32:
    case sync_kind::match_all64: {
      bool all = true;
      for (std::uint32_t m = participants; m != 0; m &= m - 1)
        all = all && staged[first_lane(m)] == staged[first_lane(participants)];
      set_lanes([&](int) { return all ? participants : 0; });
      if (site.predicate != no_operand) set_predicate(site.predicate, all ? all_lanes : 0);
      return;
    }
    default: {
      const std::uint32_t value = reduce(site.kind, staged, participants);
      set_lanes([&](int) { return value; });
      return;
    }
  }
}

}  // namespace stepwise::emulator
