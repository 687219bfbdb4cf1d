// Ticks of streams, blocks and warps; barriers and copies; releases and acquires.
#include "common/emulator/check/order.hpp"

#include <algorithm>

#include "common/emulator/run/block.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::size_t most_entries = 1 << 20;  // in one object's log
constexpr std::size_t most_learned = 4096;
constexpr int most_steps = 4000;  // per search
constexpr std::int64_t most_steps_of_launch = 2'000'000;

template <class F>
void each_lane(std::uint32_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(__builtin_ctz(mask));
}

// Adds what was learned from an object to `into`, merged with its earlier entry for that object.
void merge(knowledge& into, const acquired& a) {
  const auto same = std::ranges::find(into, a.object, &acquired::object);
  if (same == into.end()) {
    if (into.size() < most_learned) into.push_back(a);
    return;
  }
  same->from = std::min(same->from, a.from);
  same->upto = std::max(same->upto, a.upto);
  same->when = std::max(same->when, a.when);
  same->scope = std::max(same->scope, a.scope);
}

using stream_ticks = std::unordered_map<std::uint64_t, tick>;

void join(stream_ticks& into, const stream_ticks& from) {
  for (const auto& [stream, t] : from) into[stream] = std::max(into[stream], t);
}

}  // namespace

// --- streams -----------------------------------------------------------------------------------

// Brings a stream to the point at which its next operation of any kind would begin. It begins after
// all work whose end the host knew of when it submitted the operation. Since the legacy default
// stream and the blocking streams wait for each other, it also begins after the work of the other
// side.
order::stream_state& order::meet(std::uint64_t stream) {
  stream_state& s = streams_[stream];
  join(s.known, host_known_);
  join(s.known, host_may_know_);
  for (const auto& [number, other] : streams_) {
    const bool either = stream == 0 ? !other.non_blocking : number == 0 && !s.non_blocking;
    if (number == stream || !either) continue;
    s.known[number] = now_ + 1;
    join(s.known, other.known);
  }
  return s;
}

void order::begin_work(const stream_use& use, work_kind kind) {
  enter_stream(use);
  stream_state& s = meet(use.stream);
  const tick before = s.began.empty() ? 0 : s.began.back();
  const bool overlaps =
      kind == work_kind::early_launch && s.ends_with_launch && !host_knows(work_of(before));
  may_overlap_ = overlaps ? before : ~tick{0};
  s.ends_with_launch = kind != work_kind::other;
  const tick began = next();
  s.began.push_back(began);
  works_.push_back({began, use.stream});
  stream_ = use.stream;
  launch_began_ = began;
  settled_ = std::min(began, may_overlap_);
  for (const auto& [number, other] : streams_) {
    if (number == use.stream) continue;
    const auto known = s.known.find(number);
    const tick upto = known == s.known.end() ? 0 : known->second;
    const auto first = std::ranges::lower_bound(other.began, upto);
    if (first != other.began.end()) settled_ = std::min(settled_, *first);
  }
}

void order::host_waited(std::uint64_t stream) {
  if (stream != no_stream) {
    join(host_known_, meet(stream).known);
    host_known_[stream] = now_ + 1;
    return;
  }
  for (const auto& [number, s] : streams_) {
    join(host_known_, s.known);
    host_known_[number] = now_ + 1;
  }
}

void order::host_waited_for_event(std::uint64_t event) {
  const auto marked = events_.find(event);
  if (marked != events_.end()) join(host_known_, marked->second);
}

void order::host_may_know(std::uint64_t stream, bool with_running_work) {
  join(host_may_know_, meet(stream).known);
  tick& upto = host_may_know_[stream];
  upto = std::max(upto, with_running_work ? now_ + 1 : launch_began_);
}

void order::host_learned(std::uint64_t stream) {
  host_may_know(stream);
  join(host_learned_, meet(stream).known);
  host_learned_[stream] = now_ + 1;
}

// An event in the legacy default stream is an operation there: it comes after the work of the
// blocking streams, and their later work comes after the event.
void order::mark_event(std::uint64_t event, std::uint64_t stream) {
  stream_ticks marked = meet(stream).known;
  marked[stream] = now_ + 1;
  events_[event] = std::move(marked);
}

void order::wait_event(std::uint64_t event, std::uint64_t stream) {
  stream_state& s = meet(stream);
  const auto marked = events_.find(event);
  if (marked != events_.end()) join(s.known, marked->second);
}

std::uint32_t order::work_of(tick t) const {
  const auto after = std::ranges::upper_bound(works_, t, {}, &work::began);
  return static_cast<std::uint32_t>(after - works_.begin()) - 1;
}

bool order::knows_work(std::uint32_t index) const {
  const work& w = works_[index];
  if (w.stream == stream_) return true;
  const stream_ticks& known = streams_.at(stream_).known;
  const auto upto = known.find(w.stream);
  return upto != known.end() && w.began < upto->second;
}

bool order::host_knows(std::uint32_t index) const {
  const work& w = works_[index];
  const auto covers = [&](const stream_ticks& ticks) {
    const auto upto = ticks.find(w.stream);
    return upto != ticks.end() && w.began < upto->second;
  };
  return covers(host_known_) || covers(host_learned_);
}

// --- a launch ----------------------------------------------------------------------------------

void order::begin_launch(std::uint32_t warps_per_block) {
  block_warps_ = warps_per_block;
  steps_left_ = most_steps_of_launch;
  objects_.clear();
  answers_.fill({});
  released_in_global_ = released_in_shared_ = false;
}

void order::begin_block(block_clock& b, std::uint64_t index, std::uint32_t warps) {
  const tick t = next();
  b.index = static_cast<std::uint32_t>(index);
  b.first_warp = b.index * block_warps_;
  b.began = b.barrier = t;
  b.copies_known = ~tick{0};
  b.learned.clear();
  b.seen.clear();
  b.grid_waits.clear();
  b.warps.resize(warps);
  for (warp_clock& w : b.warps) {
    w = warp_clock();
    w.now = w.met = w.copies_done = w.copies_done_at_barrier = t;
  }
  for (auto& a : b.arrivals) a.clear();
}

std::uint32_t order::unordered(const block_clock& b, std::uint32_t warp, int lane, tick before,
                               std::uint32_t other_warp, std::uint32_t other_lanes) {
  if (before < settled_) return 0;
  if (before < launch_began_) {
    const bool is_over = before < may_overlap_ || has_waited_for_grids(b, warp, lane);
    return is_over && knows_work(work_of(before)) ? 0 : other_lanes;
  }
  const std::uint32_t other_block = other_warp / block_warps_;
  const warp_clock& own = b.warps[warp - b.first_warp];
  std::uint32_t open = other_lanes;
  if (other_block == b.index) {
    if (before < b.barrier) return 0;
    if (other_warp == warp) {
      open &= ~(std::uint32_t{1} << lane);
      if (before < own.met) return 0;
      if (own.lanes_known) {
        const auto& known = (*own.lanes_known)[static_cast<std::size_t>(lane)];
        each_lane(open, [&](int m) {
          if (before < known[static_cast<std::size_t>(m)]) open &= ~(std::uint32_t{1} << m);
        });
      }
    }
  }
  if (b.learned.empty() && own.learned.empty()) return open;
  // A lane that knows another lane's accesses up to a tick also knows that lane's earlier accesses.
  const std::uint64_t reader = std::uint64_t{33} * warp + (lanes_know_the_same(own) ? 32 : lane);
  answer& known = answers_[(reader * 0x9e3779b97f4a7c15 ^ other_warp * 0xc2b2ae3d27d4eb4f) >> 52];
  const bool is_known = known.reader == reader && known.other_warp == other_warp;
  if (is_known && before <= known.before) open &= ~known.lanes;
  if (open == 0) return 0;
  const std::uint64_t gave_up = gave_up_;
  const auto finds = [&](std::uint32_t others) {
    search s{before, other_warp, others, other_block, b.index};
    bool found = any_proves(b.learned, s);
    for (std::size_t k = 0; !found && k < own.learned.size(); ++k)
      found = ((own.learned_by[k] >> lane) & 1) != 0 && proves(own.learned[k], s);
    return found;
  };
  std::uint32_t found = 0;
  if (finds(open))
    found = open;
  else if ((open & (open - 1)) != 0)
    each_lane(open, [&](int m) { found |= finds(1u << m) ? 1u << m : 0; });
  if (found == 0 || gave_up != gave_up_) return open & ~found;
  if (is_known && before == known.before)
    known.lanes |= found;
  else if (!is_known || before > known.before)
    known = {reader, other_warp, found, before};
  return open & ~found;
}

bool order::any_proves(const knowledge& k, search& s) {
  return std::ranges::any_of(k, [&](const acquired& a) { return proves(a, s); });
}

bool order::proves(const acquired& a, search& s) {
  const sync_object& o = *a.object;
  if (o.cut || s.steps > most_steps || steps_left_ <= 0) {
    ++gave_up_;
    return true;
  }
  // A release and the acquire that reads it must both have a scope that includes the other thread.
  const auto reaches = [&](const release_entry& e) {
    return e.block == s.own_block || (a.scope != sync_scope::block && e.scope != sync_scope::block);
  };
  const auto any = [&](const auto& index, std::uint32_t number, auto covers) {
    const auto entries = index.find(number);
    if (entries == index.end()) return false;
    // The newest entry usually covers the most.
    for (auto n = entries->second.rbegin(); n != entries->second.rend(); ++n) {
      if (*n >= a.upto) continue;
      if (*n < a.from || s.steps > most_steps) break;
      ++s.steps;
      --steps_left_;
      const release_entry& e = o.log[*n];
      if (reaches(e) && covers(e)) return true;
    }
    return false;
  };
  if (any(o.by_warp, s.warp, [&](const release_entry& e) {
        return s.before < e.met_before || ((s.lanes & ~e.lanes) == 0 && s.before < e.before);
      }))
    return true;
  if (any(o.by_block, s.block, [&](const release_entry& e) { return s.before < e.block_before; }))
    return true;
  // No release covers the access directly, but a releasing thread may have learned of it elsewhere.
  const auto [visit, is_new] = s.visited.try_emplace({&o, s.own_block}, a.from, a.upto);
  if (!is_new) {
    if (visit->second.first <= a.from && visit->second.second >= a.upto) return false;
    visit->second = {std::min(visit->second.first, a.from), std::max(visit->second.second, a.upto)};
  }
  for (std::uint32_t n = a.upto; n > a.from && s.steps <= most_steps;) {
    ++s.steps;
    --steps_left_;
    const release_entry& e = o.log[--n];
    if (e.known == nullptr || s.before >= e.before || !reaches(e)) continue;
    // Whether a scope is wide enough depends on the block of the thread that learned of the access.
    const std::uint32_t own_block = std::exchange(s.own_block, e.block);
    if (any_proves(*e.known, s)) return true;
    s.own_block = own_block;
  }
  return false;
}

// --- waiting for each other --------------------------------------------------------------------

void order::reached_barrier(block_clock& b, const warp_event& e, unsigned id, bool waits) {
  b.arrivals[id].push_back({e.warp, e.lanes, waits});
}

void order::released_barrier(block_clock& b, unsigned id, bool whole_block) {
  const tick t = next();
  std::vector<block_clock::arrival> arrivals = std::move(b.arrivals[id]);
  b.arrivals[id].clear();
  const bool all_wait = std::ranges::all_of(arrivals, &block_clock::arrival::waits);
  if (whole_block && all_wait) {
    if (all_fenced(b, arrivals)) {
      for (const auto& a : arrivals) {
        each_lane(a.lanes, [&](int l) {
          auto& fence = (*b.warps[a.warp].fences)[static_cast<std::size_t>(l)];
          fence = {t, t, fence.scope};
        });
      }
    }
    b.barrier = t;
    b.copies_known = ~tick{0};
    for (warp_clock& w : b.warps) {
      w.now = w.met = t;
      w.copies_done_at_barrier = w.copies_done;
      if (w.copied >= w.copies_done) b.copies_known = std::min(b.copies_known, w.copies_done);
      for (const acquired& a : w.learned) merge(b.learned, a);
      w.learned.clear();
      w.learned_by.clear();
      for (const auto& [a, by] : w.seen) merge(b.seen, a);
      w.seen.clear();
    }
    return;
  }
  sync_object& o = objects_[{id, std::uint64_t{b.index} + 1 + (std::uint64_t{1} << 40)}];
  for (const auto& a : arrivals)
    release(b, b.first_warp + a.warp, a.lanes, o, t, b.barrier, sync_scope::block);
  const acquired learned{&o, 0, static_cast<std::uint32_t>(o.log.size()), t, sync_scope::block};
  for (const auto& a : arrivals) {
    b.warps[a.warp].now = t;
    b.warps[a.warp].copies_done_at_barrier = b.warps[a.warp].copies_done;
    if (a.waits) learn(b.warps[a.warp], a.lanes, learned);
  }
}

// Each block meets at a barrier of its own, then releases what its threads know to an object of the
// cluster, and learns what the others have released.
void order::released_cluster_barrier(std::span<block_clock* const> blocks) {
  for (block_clock* b : blocks) released_barrier(*b, cluster_barrier, true);
  if (blocks.size() == 1) return;
  constexpr std::uint64_t of_clusters = std::uint64_t{1} << 41;
  sync_object& o = objects_[{cluster_barrier, blocks.front()->index + of_clusters}];
  for (const block_clock* b : blocks)
    release(*b, b->first_warp, all_lanes, o, b->barrier, b->barrier, sync_scope::gpu);
  const acquired learned{&o, 0, static_cast<std::uint32_t>(o.log.size()), now(), sync_scope::gpu};
  for (block_clock* b : blocks) merge(b->learned, learned);
  released_in_global_ = released_in_shared_ = true;
}

// Whether every thread at a barrier has fenced since the previous barrier.
bool order::all_fenced(const block_clock& b, const std::vector<block_clock::arrival>& arrivals) {
  return std::ranges::all_of(arrivals, [&](const block_clock::arrival& a) {
    const warp_clock& w = b.warps[a.warp];
    if (!w.fences) return false;
    bool all = true;
    each_lane(a.lanes, [&](int l) {
      all = all && (*w.fences)[static_cast<std::size_t>(l)].before > b.barrier;
    });
    return all;
  });
}

void order::warp_met(block_clock& b, std::uint32_t warp, std::uint32_t lanes, std::uint32_t alive) {
  warp_clock& w = b.warps[warp - b.first_warp];
  const tick t = next();
  w.now = t;
  for (std::uint32_t& by : w.learned_by)
    if ((by & lanes) != 0) by |= lanes;
  if (lanes == alive) {
    w.met = t;
    return;
  }
  if (!w.lanes_known) {
    w.lanes_known = std::make_unique<std::array<std::array<tick, 32>, 32>>();
    for (auto& known : *w.lanes_known) known.fill(0);
  }
  std::array<tick, 32> all{};
  each_lane(lanes, [&](int l) {
    const auto& known = (*w.lanes_known)[static_cast<std::size_t>(l)];
    for (std::size_t m = 0; m < 32; ++m) all[m] = std::max(all[m], known[m]);
  });
  each_lane(lanes, [&](int l) { all[static_cast<std::size_t>(l)] = t; });
  each_lane(lanes, [&](int l) { (*w.lanes_known)[static_cast<std::size_t>(l)] = all; });
}

void order::waited_for_grids(block_clock& b, const warp_event& e) {
  if (may_overlap_ != ~tick{0}) b.grid_waits.push_back({e.warp, e.lanes, b.warps[e.warp].now});
}

bool order::has_waited_for_grids(const block_clock& b, std::uint32_t warp, int lane) {
  return std::ranges::any_of(b.grid_waits, [&](const block_clock::grid_wait& w) {
    const std::uint32_t waiter = b.first_warp + w.warp;
    return (waiter == warp && ((w.lanes >> lane) & 1) != 0) ||
           unordered(b, warp, lane, w.when, waiter, w.lanes) != w.lanes;
  });
}

void order::committed_copies(warp_clock& w) { w.copy_groups.push_back(w.now = next()); }

void order::waited_for_copies(warp_clock& w, int groups_left) {
  w.now = next();
  if (groups_left < 0) {  // all, whether committed or not
    w.copy_groups.clear();
    w.copies_done = w.now;
    // The mbarrier shows other threads that the copies have ended, so no block barrier is needed.
    if (groups_left == completed_by_mbarrier) w.copies_done_at_barrier = w.now;
    return;
  }
  while (w.copy_groups.size() > static_cast<std::size_t>(groups_left)) {
    w.copies_done = w.copy_groups.front();
    w.copy_groups.pop_front();
  }
}

// --- releases and acquires ---------------------------------------------------------------------

std::shared_ptr<const knowledge> order::known_by(const block_clock& b, std::uint32_t warp,
                                                 std::uint32_t lanes, of_lanes which) const {
  const warp_clock& w = b.warps[warp - b.first_warp];
  if (b.learned.empty() && w.learned.empty()) return nullptr;
  auto all = std::make_shared<knowledge>(b.learned);
  for (std::size_t k = 0; k < w.learned.size(); ++k) {
    const std::uint32_t by = w.learned_by[k] & lanes;
    // The lanes have usually learned from the same objects. One entry per lane would make searches
    // long.
    if (which == of_lanes::any && by != 0) merge(*all, w.learned[k]);
    if (which == of_lanes::all && by == lanes) all->push_back(w.learned[k]);
  }
  return all;
}

bool order::covers(const knowledge& k, const block_clock& b, std::uint32_t warp, int lane,
                   tick before) {
  search s{before, warp, std::uint32_t{1} << lane, b.index, b.index};
  return any_proves(k, s);
}

void order::release(const block_clock& b, std::uint32_t warp, std::uint32_t lanes, sync_object& o,
                    tick before, tick block_before, sync_scope scope) {
  const tick met = std::min(b.warps[warp - b.first_warp].met, before);
  if (!o.log.empty()) {
    release_entry& last = o.log.back();
    if (last.warp == warp && last.before == before && last.scope == scope &&
        last.met_before == met && last.known == nullptr) {
      last.lanes |= lanes;
      return;
    }
  }
  if (o.log.size() >= most_entries) {
    o.cut = true;
    return;
  }
  const auto at = static_cast<std::uint32_t>(o.log.size());
  o.by_warp[warp].push_back(at);
  o.by_block[b.index].push_back(at);
  o.log.push_back({warp, lanes, b.index, before, block_before, met, scope,
                   known_by(b, warp, lanes, of_lanes::any)});
}

void order::learn(warp_clock& w, std::uint32_t lanes, const acquired& a) {
  for (std::size_t k = 0; k < w.learned.size(); ++k) {
    acquired& old = w.learned[k];
    if (old.object != a.object || w.learned_by[k] != lanes || old.scope != a.scope ||
        old.from > a.from)
      continue;
    old.upto = std::max(old.upto, a.upto);
    old.when = a.when;
    return;
  }
  if (w.learned.size() >= most_learned) {
    w.learned.erase(w.learned.begin());
    w.learned_by.erase(w.learned_by.begin());
  }
  w.learned.push_back(a);
  w.learned_by.push_back(lanes);
}

void order::fenced(block_clock& b, const warp_event& e, memory_order o, sync_scope s) {
  warp_clock& w = b.warps[e.warp];
  const tick t = next();
  w.now = t;
  if (o != memory_order::acquire) {
    if (!w.fences) w.fences = std::make_unique<std::array<warp_clock::lane_fence, 32>>();
    each_lane(e.lanes, [&](int l) {
      (*w.fences)[static_cast<std::size_t>(l)] = {t, b.barrier, s};
    });
  }
  if (o == memory_order::release) return;
  const auto pass_on = [&](acquired a, std::uint32_t lanes) {
    a.when = t;
    a.scope = std::min(a.scope, s);
    learn(w, lanes, a);
  };
  for (auto& [a, by] : w.seen) {
    if ((by & e.lanes) != 0) pass_on(a, by & e.lanes);
    by &= ~e.lanes;
  }
  for (const acquired& a : b.seen) pass_on(a, e.lanes);
  std::erase_if(w.seen, [](const auto& s2) { return s2.second == 0; });
}

void order::strong_write(block_clock& b, std::uint32_t warp, int lane, const key& k,
                         const access_site& site) {
  warp_clock& w = b.warps[warp - b.first_warp];
  const bool releases =
      site.order == memory_order::release || site.order == memory_order::acquire_release;
  const warp_clock::lane_fence* fence =
      w.fences ? &(*w.fences)[static_cast<std::size_t>(lane)] : nullptr;
  const bool fenced = fence != nullptr && fence->before != 0;
  if (!releases && !fenced) {
    if (site.kind != access_kind::store || !has_objects(k)) return;
    const auto found = objects_.find(k);
    if (found != objects_.end())
      found->second.visible_from = static_cast<std::uint32_t>(found->second.log.size());
    return;
  }
  (k.block_plus_one == 0 ? released_in_global_ : released_in_shared_) = true;
  sync_object& o = objects_[k];
  if (site.kind == access_kind::store) o.visible_from = static_cast<std::uint32_t>(o.log.size());
  const std::uint32_t bit = std::uint32_t{1} << lane;
  if (releases) {
    w.now = next();
    release(b, warp, bit, o, w.now, b.barrier, site.scope);
  } else {
    release(b, warp, bit, o, fence->before, fence->block_before,
            std::min(fence->scope, site.scope));
  }
}

void order::strong_read(block_clock& b, std::uint32_t warp, int lane, const key& k,
                        const access_site& site) {
  if (!has_objects(k)) return;
  const auto found = objects_.find(k);
  if (found == objects_.end()) return;
  const sync_object& o = found->second;
  const auto size = static_cast<std::uint32_t>(o.log.size());
  if (o.visible_from >= size && !o.cut) return;
  warp_clock& w = b.warps[warp - b.first_warp];
  const acquired a{&o, o.visible_from, size, now_, site.scope};
  const std::uint32_t bit = std::uint32_t{1} << lane;
  if (site.order == memory_order::acquire || site.order == memory_order::acquire_release)
    return learn(w, bit, a);
  for (auto& [old, by] : w.seen) {
    if (old.object != &o || by != bit || old.scope != a.scope) continue;
    old = a;
    return;
  }
  if (w.seen.size() < most_learned) w.seen.emplace_back(a, bit);
}

void order::arrive(block_clock& b, std::uint32_t warp, int lane, const key& k) {
  warp_clock& w = b.warps[warp - b.first_warp];
  w.now = next();
  release(b, warp, std::uint32_t{1} << lane, objects_[k], w.now, b.barrier, sync_scope::gpu);
}

void order::see_phase(block_clock& b, std::uint32_t warp, int lane, const key& k) {
  const auto found = objects_.find(k);
  if (found == objects_.end()) return;
  const auto size = static_cast<std::uint32_t>(found->second.log.size());
  learn(b.warps[warp - b.first_warp], std::uint32_t{1} << lane,
        {&found->second, 0, size, now_, sync_scope::gpu});
}

}  // namespace stepwise::emulator
