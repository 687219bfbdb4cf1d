// The part of the scheduler that runs blocks and warps: slices, splits, joins, and their release.
#include "common/emulator/run/scheduler.hpp"

#include <algorithm>

#include "common/emulator/run/block_probe.hpp"
#include "common/emulator/run/register_pool.hpp"

namespace stepwise::emulator {
namespace {

constexpr unsigned idle_rounds_before_rotation = 8;
// A checked launch is examined after this many rounds of a block, because it may compute forever.
constexpr unsigned rounds_before_look = 64;

}  // namespace

std::uint64_t timer_wait::skip(const op* at, std::uint64_t now) {
  // After `patience` readings with at most `gap` instructions between two of them, the time passes
  // in steps that grow with the wait.
  constexpr unsigned patience = 1024, gap = 64, step = 64;
  if (at_ != at || now - last_ns_ > gap) {
    at_ = at;
    readings_ = 0;
    since_ns_ = now;
  }
  const std::uint64_t skipped = ++readings_ > patience ? (now - since_ns_) / step : 0;
  last_ns_ = now + skipped;
  return skipped;
}

scheduler::scheduler(launch_state& launch)
    : launch_(launch),
      code_(*launch.code),
      windows_(code_.window_count),
      strides_(code_.window_count),
      shapes_(code_.accesses.size()),
      parameters_(launch.parameters),
      maker_(launch, x_),
      join_patience_(code_),
      hangs_(launch, x_, counters_) {
  x_.code = code_.code.data();
  x_.host_of_device = launch.memory->host_of_device();
  x_.memory = launch.memory;
  x_.windows = windows_.data();
  x_.strides = strides_.data();
  x_.parameters = parameters_.data();
  x_.parameter_bytes = parameters_.size();
  x_.shared_bytes = code_.static_shared_bytes + launch.config.dynamic_shared_bytes;
  x_.local_bytes = code_.local_bytes_for(launch.stack_limit);
  x_.owner = this;
  if (code_.moves_registers)
    registers_at_entry_ = registers_at_entry(
        code_, *launch.model, launch.machine_code != nullptr ? launch.attributes->registers : 0);
  x_.watch = launch.watch;
  if (x_.watch == nullptr) return;
  observer::launch_info info{&code_,
                             launch.model,
                             &launch.config,
                             &x_,
                             maker_.warps(),
                             maker_.threads(),
                             launch.attributes,
                             launch.machine_code,
                             launch.memory,
                             launch.time,
                             {}};
  if (can_probe(launch)) {
    info.work_of_block = [&launch](std::uint64_t block, std::uint64_t enough) {
      return work_of_block(launch, block, enough);
    };
  }
  x_.watch->begin_launch(info);
  if (x_.watch->interleaves_blocks()) most_polling_rounds_ = 1;
}

// --- blocks ------------------------------------------------------------------------------------

bool scheduler::run(bool asked_here) {
  idle_.begin(asked_here);
  while (!launch_.stop.load(std::memory_order_relaxed)) {
    // A new block runs when none is held, or when all that are held wait for something.
    const bool all_wait =
        !resident_.empty() && resident_.front()->idle_rounds >= idle_rounds_before_rotation;
    if (resident_.empty() || (all_wait && has_room(launch_, resident_))) {
      const std::uint64_t n =
          launch_.next_block.fetch_add(volume(launch_.cluster), std::memory_order_relaxed);
      if (n < launch_.block_count) {
        if (!begin_blocks(n)) continue;
      } else if (resident_.empty()) {
        break;
      }
    }
    const block_result r = run_slice(*resident_.front());
    if (r == block_result::failed) break;
    if (launch_.breaks != nullptr && launch_.breaks->paused()) rest();
    if (r == block_result::left) return false;
    if (r != block_result::waiting && r != block_result::parked) hangs_.end_search();
    if (r == block_result::done || r == block_result::cut) {
      if (x_.watch != nullptr) x_.watch->end_block(*resident_.front());
      retire_front(r == block_result::done);
      if (r == block_result::cut) continue;
      const bool more = launch_.next_block.load(std::memory_order_relaxed) < launch_.block_count;
      if (more && out_of_time()) break;
    } else {
      resident_.push_back(std::move(resident_.front()));
      resident_.pop_front();
      if (r == block_result::waiting && launch_.ends_hangs && never_ends()) break;
    }
  }
  counters_ += x_.counts;
  const std::lock_guard lock(launch_.mutex);
  launch_.counters += counters_;
  return true;
}

// Begins the n-th block, or the cluster that begins with it. False if no observer wants it.
bool scheduler::begin_blocks(std::uint64_t n) {
  const std::uint64_t size = volume(launch_.cluster);
  const auto index_of = [&](std::uint64_t rank) {
    return nth_block(n + rank, launch_.config.grid, launch_.cluster);
  };
  bool is_wanted = x_.watch == nullptr;
  for (std::uint64_t r = 0; r < size && !is_wanted; ++r) is_wanted = x_.watch->wants(index_of(r));
  if (!is_wanted) return false;
  cluster* together = nullptr;
  if (size > 1) {
    together = clusters_.emplace_back(std::make_unique<cluster>()).get();
    together->blocks.resize(size);
  }
  for (std::uint64_t r = size; r-- > 0;) {  // the block of rank 0 runs first
    if (unused_.empty()) unused_.push_back(maker_.make());
    block& b = *resident_.emplace_front(std::move(unused_.back()));
    unused_.pop_back();
    maker_.start(b, index_of(r));
    if (registers_at_entry_ != 0) give_registers(b);
    b.delayed_copies = 0;
    b.together = together;
    b.rank = static_cast<std::uint32_t>(r);
    if (together != nullptr) together->blocks[r] = &b;
    if (x_.watch != nullptr) x_.watch->begin_block(b);
  }
  return true;
}

// Removes the block that has ended from the resident ones. A block that was cut short is not used
// again. The memory of a cluster's blocks is kept until all of them have ended.
void scheduler::retire_front(bool is_reusable) {
  std::unique_ptr<block> b = std::move(resident_.front());
  resident_.pop_front();
  cluster* const together = b->together;
  if (together == nullptr) {
    if (is_reusable) unused_.push_back(std::move(b));
    return;
  }
  together->ended.push_back(std::move(b));
  if (together->ended.size() < together->blocks.size()) return;
  std::ranges::move(together->ended, std::back_inserter(unused_));
  std::erase_if(clusters_, [&](const auto& c) { return c.get() == together; });
}

// The blocks of the running block's cluster.
std::span<block* const> scheduler::cluster_blocks() const {
  return block_->together != nullptr ? std::span<block* const>(block_->together->blocks)
                                     : std::span<block* const>(&block_, 1);
}

// Runs a block until it ends, or until it only polls for what other blocks must do.
scheduler::block_result scheduler::run_slice(block& b) {
  block_ = &b;
  x_.shared = b.shared;
  if (x_.watch != nullptr) x_.watch->switch_to(b);
  b.idle_rounds = 0;
  unsigned rounds = 0;
  while (b.alive != 0) {
    bool ran = false;
    progress_ = false;
    if (!delayed_.empty()) do_delayed([](delayed_copy& c) { return --c.rounds == 0; });
    const std::uint64_t polls = x_.polls;
    for (warp& w : b.warps) {
      if (w.ready.empty() && !w.release_joins()) continue;
      ran = true;
      x_.budget = x_.watch != nullptr ? x_.watch->slice() : slice_instructions;
      // No block of a cluster is cut short, because the others may wait for it.
      if (x_.budget == 0 && b.together != nullptr) x_.budget = slice_instructions;
      if (x_.budget == 0) return block_result::cut;
      run_warp(w);
      if (launch_.stop.load(std::memory_order_relaxed)) return block_result::failed;
    }
    if (b.alive == 0) break;
    if (launch_.stop.load(std::memory_order_relaxed)) return block_result::failed;
    if (!ran) {
      if (others_can_run()) return block_result::parked;
      report_deadlock(b);
      return block_result::failed;
    }
    if (out_of_time()) return block_result::failed;
    const bool idle = !progress_ && x_.polls != polls;
    b.idle_rounds = idle ? b.idle_rounds + 1 : 0;
    b.only_polled = idle;
    if (launch_.breaks != nullptr) {
      if (launch_.breaks->paused()) rest();
      if (idle_.leaves(*launch_.breaks, idle, x_.polls, counters_.warp_instructions))
        return block_result::left;
    }
    if (launch_.announces_wait.load(std::memory_order_relaxed)) announce_wait(idle);
    b.polling_rounds = x_.polls != polls ? b.polling_rounds + 1 : 0;
    if (b.polling_rounds != 0 && b.polling_rounds % most_polling_rounds_ == 0)
      b.idle_rounds = idle_rounds_before_rotation;
    if (b.idle_rounds >= idle_rounds_before_rotation) return block_result::waiting;
    if (launch_.ends_hangs && ++rounds == rounds_before_look) return block_result::waiting;
  }
  do_delayed([&](const delayed_copy& c) { return c.of == &b; });
  if (launch_.stop.load(std::memory_order_relaxed)) return block_result::failed;
  idle_.block_ended();
  return block_result::done;
}

// --- delayed copies ----------------------------------------------------------------------------

// A copy is issued in one round and takes place in a later one, so a program that uses the source
// or the destination too early goes wrong here as on a GPU. The delays are the same in every run,
// whatever the number of workers.
void scheduler::delay_copy(const op* i, int lane, bool in_group,
                           std::function<bool(context&)> work) {
  constexpr unsigned most_rounds = 12;
  std::uint64_t drawn = launch_.copy_seed;
  for (const std::uint64_t part :
       {block_->index, std::uint64_t{warp_index()}, std::uint64_t{i->ordinal},
        std::uint64_t{block_->delayed_copies++}})
    drawn = (drawn ^ part) * 0x9e3779b97f4a7c15;
  const auto rounds = static_cast<unsigned>((drawn >> 32) % most_rounds) + 1;
  delayed_.push_back({block_, warp_, lane, in_group, rounds, std::move(work)});
}

// Performs the delayed copies for which is_due(copy) holds, each as if its thread were running.
template <class IsDue>
void scheduler::do_delayed(IsDue is_due) {
  block* const running = block_;
  warp* const running_warp = warp_;
  const std::uint32_t mask = x_.mask;
  for (std::size_t n = 0; n < delayed_.size();) {
    if (!is_due(delayed_[n])) {
      ++n;
      continue;
    }
    const delayed_copy c = std::move(delayed_[n]);
    delayed_.erase(delayed_.begin() + static_cast<std::ptrdiff_t>(n));
    block_ = c.of;
    warp_ = c.by;
    x_.shared = c.of->shared;
    x_.mask = std::uint32_t{1} << c.lane;
    progress_ = true;
    if (!c.work(x_)) break;
  }
  block_ = running;
  warp_ = running_warp;
  x_.shared = running->shared;
  x_.mask = mask;
}

// cp.async.bulk.wait_group: performs all delayed copies in groups of the running threads.
const op* scheduler::wait_for_copies(const op* i) {
  do_delayed([&](const delayed_copy& c) {
    return c.in_group && c.by == warp_ && ((x_.active >> c.lane) & 1) != 0;
  });
  return launch_.stop.load(std::memory_order_relaxed) ? nullptr : i + 1;
}

// Waits while the host changes what workers read. Allocations may be gone afterwards.
void scheduler::rest() {
  launch_.breaks->wait_while_paused();
  std::ranges::fill(windows_, access_window{});
}

// --- warps and splits --------------------------------------------------------------------------

// Runs a warp for one slice. Its splits share the slice that x_.budget holds, and run alternately
// if the slice ends first.
void scheduler::run_warp(warp& w) {
  warp_ = &w;
  x_.local = w.local;
  const std::uint64_t polls = x_.polls;
  while (x_.budget > 0) {
    if (w.ready.empty() && !w.release_joins()) return;
    const split s = w.ready.back();
    w.ready.pop_back();
    x_.mask = x_.active = s.mask;
    x_.segment = s.at;
    join_ = s.join;
    enter(s.in);
    const op* i = s.at;
    if (x_.watch != nullptr && x_.watch->follows(*block_, warp_index())) [[unlikely]] {
      follow(i);
    } else {
      do i = i->run(x_, i);
      while (i != nullptr);
    }
    if (launch_.stop.load(std::memory_order_relaxed)) return;
  }
  if (out_of_time()) return;
  // The split that has waited longest is the next one.
  if (!w.ready.empty()) std::rotate(w.ready.begin(), w.ready.begin() + 1, w.ready.end());
  if (!join_patience_.is_over(w, x_.polls != polls)) return;
  join_patience_.note_release(w);
  w.release_joins();
}

// Runs ops like the loop of run_warp(), for an observer that inspects each op.
void scheduler::follow(const op* i) {
  while (i != nullptr) {
    x_.watch->before(x_, i);
    const op* next = i->run(x_, i);
    x_.watch->after(x_, i, next);
    i = next;
  }
}

// Counts the straight run that ends before the PTX instruction of this ordinal.
void scheduler::account(std::uint32_t ordinal) {
  const std::uint64_t n = ordinal - x_.segment->ordinal;
  counters_.warp_instructions += n;
  counters_.lane_instructions += n * count_of(x_.mask);
  x_.budget -= static_cast<std::int64_t>(n);
  if (x_.watch != nullptr) x_.watch->executed(warp_index(), x_.segment->ordinal, ordinal, x_.mask);
}

// A reading ends a straight run, so that everything before it is reported.
std::uint64_t scheduler::clock(const op* i) {
  ++clock_readings_;
  account(i->ordinal);
  x_.segment = i;
  return launch_.time->cycles(warp_index(), i);
}

std::uint64_t scheduler::global_time_ns(const op* i) {
  ++clock_readings_;
  if (launch_.time != nullptr) {
    account(i->ordinal);
    x_.segment = i;
    return launch_.time->nanoseconds(warp_index(), i);
  }
  if (x_.watch != nullptr) return counted_ns(i);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// One nanosecond per warp instruction, plus the time that waits for the clock have skipped.
std::uint64_t scheduler::counted_ns(const op* i) {
  const std::uint64_t now = launch_.began_ns + launch_.skipped_ns + counters_.warp_instructions +
                            i->ordinal - x_.segment->ordinal;
  const std::uint64_t skipped = timer_wait_.skip(i, now);
  launch_.skipped_ns += skipped;
  return now + skipped;
}

void scheduler::sleep(std::uint32_t ns) {
  if (launch_.time != nullptr) launch_.time->slept(warp_index(), ns);
}

const op* scheduler::branch(const op* i, const op* target) {
  account(i->ordinal + 1);
  x_.segment = target;
  return x_.budget > 0 ? target : yield(target);
}

// Ends the warp's slice. The running split will continue at `at`.
const op* scheduler::yield(const op* at) {
  warp_->ready.push_back({at, x_.mask, join_, frame_});
  return nullptr;
}

// True if the lanes of a join wait at `at`, in the function that runs.
bool scheduler::waits_at(int join, const op* at) const {
  if (join < 0) return false;
  const join_point& j = warp_->joins[static_cast<std::size_t>(join)];
  return j.at == at && j.in == frame_;
}

// The running split's join, or an enclosing one, whose lanes wait at `at`; -1 if there is none.
int scheduler::join_around(const op* at) const {
  int join = join_;
  while (join >= 0 && !waits_at(join, at))
    join = warp_->joins[static_cast<std::size_t>(join)].parent;
  return join;
}

// The join at `meet` for the running split's lanes, or their current join if an enclosing join is
// already there. A loop whose lanes leave one after the other keeps using its first join.
int scheduler::join_for(const op* meet) {
  return meet == nullptr || join_around(meet) >= 0 ? join_ : join_at(meet);
}

int scheduler::join_at(const op* meet) {
  if (waits_at(join_, meet)) return join_;
  const int fresh = warp_->new_join();
  warp_->joins[static_cast<std::size_t>(fresh)] = {meet, frame_, x_.mask, 0, join_};
  return fresh;
}

// Makes the joins of a branch. Returns the op at which its lanes reconverge, or null.
const op* scheduler::enter_joins(const op* branch) {
  const auto op_of = [&](std::uint32_t n) { return n == no_operand ? nullptr : x_.code + n; };
  join_ = join_for(op_of(branch->c));
  const op* meet = op_of(branch->slot);
  join_ = join_for(meet);
  return meet;
}

const op* scheduler::diverge(const op* i, std::uint32_t taken) {
  account(i->ordinal + 1);
  if (x_.watch != nullptr) x_.watch->diverged(event_at(i, x_.mask), taken);
  warp& w = *warp_;
  const op* target = x_.code + i->immediate;
  const op* meet = enter_joins(i);
  const std::uint32_t stay = x_.mask & ~taken;
  join_point* join = waits_at(join_, meet) ? &w.joins[static_cast<std::size_t>(join_)] : nullptr;
  if (join != nullptr && target == meet) {
    join->arrived |= taken;
    taken = 0;
  } else if (join != nullptr && i + 1 == meet) {
    join->arrived |= stay;
    x_.mask = x_.active = taken;
    x_.segment = target;
    return x_.budget > 0 ? target : yield(target);
  }
  if (taken != 0) w.push_ready({target, taken, join_, frame_});
  x_.mask = x_.active = stay;
  x_.segment = i + 1;
  return i + 1;
}

// Each lane branches by its index. PTX does not define an index past the table.
const op* scheduler::branch_indexed(const op* i) {
  const std::vector<std::uint32_t>& table = jump_table(i);
  const std::uint32_t* index = x_.vreg<std::uint32_t>(i->a);
  std::uint32_t left = x_.mask;
  const auto group = [&] {  // the lanes with the same index as the first one left
    const std::uint32_t wanted = index[first_lane(left)];
    std::uint32_t with = 0;
    for (std::uint32_t m = left; m != 0; m &= m - 1)
      if (index[first_lane(m)] == wanted) with |= m & -m;
    return with;
  };
  for (std::uint32_t m = left; m != 0; m &= m - 1) {
    if (index[first_lane(m)] >= table.size()) {
      return stop(i, error::illegal_instruction,
                  "a branch by index " + std::to_string(index[first_lane(m)]) +
                      " into a table of " + std::to_string(table.size()),
                  first_lane(m));
    }
  }
  if (const std::uint32_t first = group(); first == left)
    return branch(i, x_.code + table[index[first_lane(left)]]);
  account(i->ordinal + 1);
  warp& w = *warp_;
  const op* meet = enter_joins(i);
  const bool may_arrive = waits_at(join_, meet);
  while (left != 0) {
    const std::uint32_t with = group();
    const op* target = x_.code + table[index[first_lane(left)]];
    left &= ~with;
    if (may_arrive && target == meet)
      w.joins[static_cast<std::size_t>(join_)].arrived |= with;
    else
      w.push_ready({target, with, join_, frame_});
  }
  x_.segment = i + 1;
  return nullptr;
}

const op* scheduler::reach_join(const op* i) {
  warp& w = *warp_;
  for (int around = join_around(i); around >= 0; around = join_around(i)) {
    while (join_ != around) {  // skipped by a jump out of a loop
      const int left = join_;
      join_ = w.joins[static_cast<std::size_t>(left)].parent;
      w.leave_join(left, x_.mask);
    }
    join_point& join = w.joins[static_cast<std::size_t>(join_)];
    join.arrived |= x_.mask;
    w.since_arrival = {};
    account(i->ordinal);
    x_.segment = i;
    if (join.arrived != join.expected) return nullptr;
    x_.mask = x_.active = join.arrived;
    join_ = join.parent;
    join.at = nullptr;
  }
  return i + 1;
}

const op* scheduler::exit_lanes(const op* i, std::uint32_t mask) {
  account(i->ordinal + 1);
  progress_ = true;
  if (x_.watch != nullptr) x_.watch->exited(event_at(i, mask));
  warp& w = *warp_;
  w.alive &= ~mask;
  w.in_cluster &= ~mask;
  block_->alive -= count_of(mask);
  if (block_->alive == 0 && has_peers() && launch_.time != nullptr)
    block_->left_at = launch_.time->cycles(warp_index(), i);
  w.leave_joins(mask, nullptr);
  if (frame_->caller != nullptr) leave_frames(w, mask);
  if (!w.parked.empty()) check_parked(w);
  check_barriers();
  x_.mask &= ~mask;
  x_.active = x_.mask;
  x_.segment = i + 1;
  return x_.mask != 0 ? i + 1 : nullptr;
}

}  // namespace stepwise::emulator
