// Threads that wait for each other at block barriers and warp-wide operations.
#include <algorithm>
#include <span>

#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {

// --- barriers ----------------------------------------------------------------------------------

const op* scheduler::reach_barrier(const op* i) {
  account(i->ordinal + 1);
  warp& w = *warp_;
  const barrier_site& site = code_.barriers[i->slot];
  const int lane = first_lane(x_.mask);
  const std::uint32_t id = x_.vreg<std::uint32_t>(site.id)[lane];
  if (id >= 16)
    return stop(i, error::launch_failure, "barrier " + std::to_string(id) + " does not exist",
                lane);
  block_barrier& barrier = block_->barriers[id];
  barrier.expected = site.count == no_operand ? 0 : x_.vreg<std::uint32_t>(site.count)[lane];
  barrier.arrived += count_of(x_.mask);
  block_->barriers_waited_at |= 1U << id;
  if (site.reduction != barrier_reduction::none) {
    const std::uint32_t p = x_.predicate(site.source) ^ (site.source_negated ? all_lanes : 0);
    barrier.count += count_of(p & x_.mask);
  }
  ++counters_.barriers;
  progress_ = true;
  x_.segment = i + 1;
  if (x_.watch != nullptr)
    x_.watch->reached_barrier(event_at(i, x_.mask), id, site.arrive_only, site.aligned);
  if (site.arrive_only) {
    w.push_ready({i + 1, x_.mask, join_, frame_});
  } else {
    w.at_barrier.push_back({{i, x_.mask, join_, frame_}, id});
  }
  check_barrier(id);
  return nullptr;
}

void scheduler::check_barrier(unsigned id) {
  const block_barrier& barrier = block_->barriers[id];
  const std::uint32_t expected = barrier.expected != 0 ? barrier.expected : block_->alive;
  if (barrier.arrived >= expected) release_barrier(id);
}

// Called after threads have exited.
void scheduler::check_barriers() {
  for (std::uint32_t m = block_->barriers_waited_at; m != 0; m &= m - 1)
    check_barrier(static_cast<unsigned>(first_lane(m)));
  for (std::uint32_t m = block_->waiting_warpgroups; m != 0; m &= m - 1)
    check_warpgroup(static_cast<std::uint32_t>(first_lane(m)));
  check_cluster();
}

void scheduler::release_barrier(unsigned id) {
  const std::uint32_t arrived = block_->barriers[id].arrived, held = block_->barriers[id].count;
  block_->barriers[id] = {};
  block_->barriers_waited_at &= ~(1U << id);
  if (x_.watch != nullptr) x_.watch->released_barrier(id, arrived >= block_->alive);
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
      w.push_ready({i + 1, mask, wait.waiting.join, wait.waiting.in});
      return true;
    });
  }
}

// The barrier of the cluster differs from those of the block: every thread arrives first and waits
// later. A thread waits for as long as it counts as arrived.
const op* scheduler::arrive_at_cluster(const op* i) {
  warp& w = *warp_;
  if (const std::uint32_t again = w.in_cluster & x_.mask; again != 0)
    return stop(i, error::launch_failure, "barrier.cluster.arrive twice without a wait between",
                first_lane(again));
  w.in_cluster |= x_.mask;
  (block_->together != nullptr ? block_->together->some_arrived : block_->in_cluster) = true;
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
  bool& some_arrived =
      block_->together != nullptr ? block_->together->some_arrived : block_->in_cluster;
  if (!some_arrived) return;
  for (const block* b : cluster_blocks())
    for (const warp& w : b->warps)
      if (w.in_cluster != w.alive) return;
  some_arrived = false;
  if (x_.watch != nullptr) x_.watch->released_cluster_barrier(cluster_blocks());
  for (block* b : cluster_blocks()) {
    for (warp& w : b->warps) {
      w.in_cluster = 0;
      std::erase_if(w.at_barrier, [&](const warp::barrier_wait& wait) {
        if (wait.barrier != cluster_barrier) return false;
        w.push_ready({wait.waiting.at + 1, wait.waiting.mask, wait.waiting.join, wait.waiting.in});
        return true;
      });
    }
  }
}

// wgmma.wait_group. The products of a warpgroup are one operation: no warp continues before all
// warps of its group have read their operands.
const op* scheduler::wait_for_warpgroup(const op* i) {
  account(i->ordinal + 1);
  x_.segment = i + 1;
  progress_ = true;
  warp_->at_barrier.push_back({{i, x_.mask, join_, frame_}, warpgroup_barrier});
  const std::uint32_t group = warp_index() / warps_in_group;
  block_->waiting_warpgroups |= 1U << group;
  check_warpgroup(group);
  return nullptr;
}

void scheduler::check_warpgroup(std::uint32_t group) {
  const std::size_t first = group * warps_in_group;
  const std::span warps = std::span(block_->warps).subspan(first);
  const std::span together = warps.first(std::min<std::size_t>(warps.size(), warps_in_group));
  const auto is_here = [](const warp::barrier_wait& w) { return w.barrier == warpgroup_barrier; };
  for (const warp& w : together) {
    std::uint32_t here = 0;
    for (const auto& wait : w.at_barrier)
      if (is_here(wait)) here |= wait.waiting.mask;
    if (here != w.alive) return;
  }
  block_->waiting_warpgroups &= ~(1U << group);
  std::vector<warp_event> met;
  for (warp& w : together) {
    std::erase_if(w.at_barrier, [&](const warp::barrier_wait& wait) {
      if (!is_here(wait)) return false;
      const auto index = static_cast<std::uint32_t>(&w - block_->warps.data());
      met.push_back({index, wait.waiting.mask, wait.waiting.at});
      w.push_ready({wait.waiting.at + 1, wait.waiting.mask, wait.waiting.join, wait.waiting.in});
      return true;
    });
  }
  if (x_.watch != nullptr && !met.empty()) x_.watch->met_in_warpgroup(met);
}

// Whether a warp of the running block's cluster can run.
bool scheduler::others_can_run() const {
  return std::ranges::any_of(cluster_blocks(), [](const block* b) {
    return std::ranges::any_of(b->warps, [](const warp& w) {
      return !w.ready.empty() || std::ranges::any_of(w.joins, &join_point::has_lanes);
    });
  });
}

// --- warp-wide operations ----------------------------------------------------------------------

const op* scheduler::synchronise(const op* i) {
  warp& w = *warp_;
  const sync_site& site = code_.syncs[i->slot];
  if (x_.mask == all_lanes && x_.watch == nullptr && exchange_at_once(i)) return i + 1;
  const std::uint32_t* masks = x_.vreg<std::uint32_t>(site.members);
  const std::uint32_t members = masks[first_lane(x_.mask)];
  // Lanes with another membermask form a separate group.
  std::uint32_t others = 0;
  for (std::uint32_t m = x_.mask; m != 0; m &= m - 1)
    if (masks[first_lane(m)] != members) others |= m & -m;
  if (others != 0) {
    account(i->ordinal);
    x_.segment = i;
    w.ready.push_back({i, others, join_, frame_});
    x_.mask = x_.active = x_.mask & ~others;
  }
  if (x_.watch != nullptr) x_.watch->reached_warp_wide(event_at(i, x_.mask), members);
  if ((members & w.alive & ~x_.mask) == 0) {
    if (x_.watch != nullptr)
      x_.watch->warp_met(event_at(i, x_.mask), site.kind == sync_kind::warp_barrier);
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

// Notifies the observer of splits that met at a warp-wide operation.
void scheduler::notify_met(const warp& w, std::uint32_t members) {
  warp_event e{static_cast<std::uint32_t>(&w - block_->warps.data()), 0, nullptr};
  const warp::parked_split* first = nullptr;
  bool orders = true;
  for (const auto& p : w.parked) {
    if (p.members != members) continue;
    if (first == nullptr) first = &p;
    if (p.waiting.at != first->waiting.at)
      x_.watch->met_at_two_places({e.warp, first->waiting.mask, first->waiting.at},
                                  {e.warp, p.waiting.mask, p.waiting.at}, members);
    e.lanes |= p.waiting.mask;
    e.at = p.waiting.at;
    orders = orders && code_.syncs[p.waiting.at->slot].kind == sync_kind::warp_barrier;
  }
  x_.watch->warp_met(e, orders);
}

// Runs the operation that a whole warp has reached in several splits. True if the group waited for
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
    if (next != nullptr) w.push_ready({next, p.waiting.mask, p.waiting.join, p.waiting.in});
    return true;
  });
  return true;
}

void scheduler::finish_exchange(warp& w, std::uint32_t members) {
  if (x_.watch != nullptr) notify_met(w, members);
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
    w.push_ready({p.waiting.at + 1, p.waiting.mask, p.waiting.join, p.waiting.in});
    return true;
  });
  x_.active = saved;
  x_.registers = frame_->registers;
}

}  // namespace stepwise::emulator
