// Where threads wait for each other: block barriers and warp-wide operations.
#include <algorithm>

#include "common/emulator/exec/scheduler.hpp"

namespace stepwise::emulator {

// --- barriers ----------------------------------------------------------------------------------

const op* scheduler::reach_barrier(const op* i) {
  account(i->ordinal + 1);
  warp& w = *warp_;
  const barrier_site& site = code_.barriers[i->slot];
  const int lane = first_lane(x_.mask);
  const std::uint32_t id = x_.row<std::uint32_t>(site.id)[lane];
  if (id >= 16)
    return stop(i, error::launch_failure, "barrier " + std::to_string(id) + " does not exist",
                lane);
  block_barrier& barrier = block_->barriers[id];
  barrier.expected = site.count == no_row ? 0 : x_.row<std::uint32_t>(site.count)[lane];
  barrier.arrived += count_of(x_.mask);
  if (site.reduction != barrier_reduction::none) {
    const std::uint32_t p = x_.predicate(site.source) ^ (site.source_negated ? all_lanes : 0);
    barrier.count += count_of(p & x_.mask);
  }
  ++counters_.barriers;
  progress_ = true;
  x_.segment = i + 1;
  if (site.arrive_only) {
    push_ready(w, {i + 1, x_.mask, join_, frame_});
  } else {
    w.at_barrier.push_back({{i, x_.mask, join_, frame_}, id});
  }
  check_barriers();
  return nullptr;
}

void scheduler::check_barriers() {
  for (unsigned id = 0; id < 16; ++id) {
    const block_barrier& barrier = block_->barriers[id];
    if (barrier.arrived == 0) continue;
    const std::uint32_t expected = barrier.expected != 0 ? barrier.expected : block_->alive;
    if (barrier.arrived >= expected) release_barrier(id);
  }
  check_cluster();
}

void scheduler::release_barrier(unsigned id) {
  const std::uint32_t arrived = block_->barriers[id].arrived, held = block_->barriers[id].count;
  block_->barriers[id] = {};
  for (warp& w : block_->warps) {
    std::erase_if(w.at_barrier, [&](const warp::barrier_wait& wait) {
      if (wait.barrier != id) return false;
      const op* i = wait.waiting.at;
      const barrier_site& site = code_.barriers[i->slot];
      const std::uint32_t mask = wait.waiting.mask;
      if (site.reduction == barrier_reduction::popc) {
        auto* d = reinterpret_cast<std::uint32_t*>(wait.waiting.in->registers + i->d);
        for (int l = 0; l < lanes; ++l)
          if ((mask >> l) & 1) d[l] = held;
      } else if (site.reduction != barrier_reduction::none) {
        auto& d = *reinterpret_cast<std::uint32_t*>(wait.waiting.in->registers + i->d);
        const bool holds =
            site.reduction == barrier_reduction::logical_and ? held == arrived : held != 0;
        d = (d & ~mask) | (holds ? mask : 0);
      }
      push_ready(w, {i + 1, mask, wait.waiting.join, wait.waiting.in});
      return true;
    });
  }
}

// The barrier of the cluster, apart from those of the block in that every thread arrives first and
// waits later. A thread waits for as long as it counts as arrived.
const op* scheduler::arrive_at_cluster(const op* i) {
  warp& w = *warp_;
  if (const std::uint32_t again = w.in_cluster & x_.mask; again != 0)
    return stop(i, error::launch_failure, "barrier.cluster.arrive twice without a wait between",
                first_lane(again));
  w.in_cluster |= x_.mask;
  progress_ = true;
  check_cluster();
  return i + 1;
}

const op* scheduler::wait_for_cluster(const op* i) {
  warp& w = *warp_;
  if ((w.in_cluster & x_.mask) == 0) return i + 1;
  account(i->ordinal + 1);
  x_.segment = i + 1;
  w.at_barrier.push_back({{i, x_.mask, join_, frame_}, cluster_barrier});
  return nullptr;
}

void scheduler::check_cluster() {
  for (const warp& w : block_->warps)
    if (w.in_cluster != w.alive) return;
  for (warp& w : block_->warps) {
    w.in_cluster = 0;
    std::erase_if(w.at_barrier, [&](const warp::barrier_wait& wait) {
      if (wait.barrier != cluster_barrier) return false;
      push_ready(w, {wait.waiting.at + 1, wait.waiting.mask, wait.waiting.join, wait.waiting.in});
      return true;
    });
  }
}

// --- warp-wide operations ----------------------------------------------------------------------

const op* scheduler::synchronise(const op* i) {
  warp& w = *warp_;
  const sync_site& site = code_.syncs[i->slot];
  const std::uint32_t* masks = x_.row<std::uint32_t>(site.members);
  const std::uint32_t members = masks[first_lane(x_.mask)];
  // Lanes with another membermask are a group of their own.
  std::uint32_t others = 0;
  for (std::uint32_t m = x_.mask; m != 0; m &= m - 1)
    if (masks[first_lane(m)] != members) others |= m & -m;
  if (others != 0) {
    account(i->ordinal);
    x_.segment = i;
    w.ready.push_back({i, others, join_, frame_});
    x_.mask = x_.active = x_.mask & ~others;
  }
  if ((members & w.alive & ~x_.mask) == 0) {
    if (site.kind == sync_kind::whole_warp) return x_.mask == all_lanes ? i + 1 : lacks_lanes(i);
    std::uint64_t staged[lanes];
    stage(i, all_lanes, staged);
    exchange(i, x_.mask, staged, x_.mask);
    return i + 1;
  }
  account(i->ordinal);
  x_.segment = i;
  w.parked.push_back({{i, x_.mask, join_, frame_}, members});
  check_parked(w);
  return nullptr;
}

// Ends the wait of every group of parked splits that is complete. Splits of one membermask form a
// group, at whatever instruction they wait.
void scheduler::check_parked(warp& w) {
  for (std::size_t k = 0; k < w.parked.size();) {
    const std::uint32_t members = w.parked[k].members;
    std::uint32_t present = 0;
    for (const auto& p : w.parked)
      if (p.members == members) present |= p.waiting.mask;
    if ((members & w.alive & ~present) == 0) {
      finish_exchange(w, members);
      k = 0;
    } else {
      ++k;
    }
  }
}

const op* scheduler::lacks_lanes(const op* i) {
  const std::uint32_t missing = count_of(~warp_->alive);
  return stop(i, error::launch_failure,
              "an instruction for all 32 lanes of a warp, " + std::to_string(missing) +
                  " of which have exited or never began",
              first_lane(x_.mask));
}

// Runs the operation that a whole warp has come to, in several splits. True if the group waited for
// such an operation.
bool scheduler::finish_whole_warp(warp& w, std::uint32_t members) {
  const op* at = nullptr;
  const frame* in = nullptr;
  bool whole = false, same = true;
  for (const auto& p : w.parked) {
    if (p.members != members) continue;
    whole = whole || code_.syncs[p.waiting.at->slot].kind == sync_kind::whole_warp;
    same = same && (at == nullptr || (p.waiting.at == at && p.waiting.in == in));
    at = p.waiting.at;
    in = p.waiting.in;
  }
  if (!whole) return false;
  const op* next = nullptr;
  const std::uint32_t mask = x_.mask, active = x_.active;
  x_.mask = x_.active = all_lanes;
  x_.registers = in->registers;
  if (!same) {
    stop(at, error::launch_failure,
         "an instruction for all 32 lanes of a warp, but some lanes wait at another one, or in "
         "another call",
         0);
  } else if (w.alive != all_lanes) {
    x_.mask = w.alive;
    lacks_lanes(at);
  } else {
    next = (at + 1)->run(x_, at + 1);
  }
  x_.registers = frame_->registers;
  x_.mask = mask;
  x_.active = active;
  counters_.warp_instructions += 1;
  counters_.lane_instructions += lanes;
  std::erase_if(w.parked, [&](const warp::parked_split& p) {
    if (p.members != members) return false;
    if (next != nullptr) push_ready(w, {next, p.waiting.mask, p.waiting.join, p.waiting.in});
    return true;
  });
  return true;
}

void scheduler::finish_exchange(warp& w, std::uint32_t members) {
  if (finish_whole_warp(w, members)) return;
  const std::uint32_t saved = x_.active;
  std::uint64_t staged[lanes] = {};
  std::uint32_t participants = 0;
  for (const auto& p : w.parked) {
    if (p.members != members) continue;
    participants |= p.waiting.mask;
    x_.registers = p.waiting.in->registers;
    stage(p.waiting.at, p.waiting.mask, staged);
  }
  std::erase_if(w.parked, [&](const warp::parked_split& p) {
    if (p.members != members) return false;
    x_.registers = p.waiting.in->registers;
    exchange(p.waiting.at, p.waiting.mask, staged, participants);
    const std::uint64_t count = count_of(p.waiting.mask);
    counters_.warp_instructions += 1;
    counters_.lane_instructions += count;
    push_ready(w, {p.waiting.at + 1, p.waiting.mask, p.waiting.join, p.waiting.in});
    return true;
  });
  x_.active = saved;
  x_.registers = frame_->registers;
}

// What the lanes in `mask` put in: their source operands, or one bit each for a vote.
void scheduler::stage(const op* i, std::uint32_t mask, std::uint64_t* staged) const {
  const sync_site& site = code_.syncs[i->slot];
  const auto from_row = [&](const auto* row) {
    for (int l = 0; l < lanes; ++l)
      if ((mask >> l) & 1) staged[l] = row[l];
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
      return from_row(x_.row<std::uint64_t>(i->a));
    default:
      return from_row(x_.row<std::uint32_t>(i->a));
  }
}

namespace {

// Writes to out[l] what lane l reads, and returns the lanes whose source is in their segment's
// range; the others read themselves. c is a segment mask (bits 8-12) and a clamp (bits 0-4).
std::uint32_t shuffle(sync_kind kind, const std::uint64_t* staged, const std::uint32_t* b,
                      const std::uint32_t* c, std::uint32_t* out) {
  std::uint32_t valid = 0;
  const auto each = [&](auto source_of, auto in_range) {
    for (int l = 0; l < lanes; ++l) {
      const int segment = static_cast<int>((c[l] >> 8) & 31);
      const int bound = (l & segment) | (static_cast<int>(c[l] & 31) & ~segment);
      const int source = source_of(l, static_cast<int>(b[l] & 31), segment);
      const bool reads = in_range(source, bound);
      valid |= static_cast<std::uint32_t>(reads) << l;
      out[l] = static_cast<std::uint32_t>(staged[reads ? source : l]);
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
  return valid;
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

// Writes the results of the lanes in `mask`, from what all participants put in.
void scheduler::exchange(const op* i, std::uint32_t mask, const std::uint64_t* staged,
                         std::uint32_t participants) {
  const sync_site& site = code_.syncs[i->slot];
  const auto held_by = [&] {
    std::uint32_t held = 0;
    for (std::uint32_t m = participants; m != 0; m &= m - 1)
      if (staged[first_lane(m)] != 0) held |= m & -m;
    return held;
  };
  const auto set_predicate = [&](std::uint32_t row, std::uint32_t value) {
    std::uint32_t& p = x_.predicate(row);
    p = (p & ~mask) | (value & mask);
  };
  const auto set_lanes = [&](auto value_of) {
    std::uint32_t* d = x_.row<std::uint32_t>(i->d);
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
      const std::uint32_t valid =
          shuffle(site.kind, staged, x_.row<std::uint32_t>(i->b), x_.row<std::uint32_t>(i->c), out);
      set_lanes([&](int l) { return out[l]; });
      if (site.predicate != no_row) set_predicate(site.predicate, valid);
      return;
    }
    case sync_kind::match_any32:
    case sync_kind::match_any64:
      set_lanes([&](int l) {
        std::uint32_t same = 0;
        for (std::uint32_t m = participants; m != 0; m &= m - 1)
          if (staged[first_lane(m)] == staged[l]) same |= m & -m;
        return same;
      });
      return;
    case sync_kind::match_all32:
    case sync_kind::match_all64: {
      bool all = true;
      for (std::uint32_t m = participants; m != 0; m &= m - 1)
        all = all && staged[first_lane(m)] == staged[first_lane(participants)];
      set_lanes([&](int) { return all ? participants : 0; });
      if (site.predicate != no_row) set_predicate(site.predicate, all ? all_lanes : 0);
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
