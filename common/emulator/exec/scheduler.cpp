#include "common/emulator/exec/scheduler.hpp"

#include <algorithm>
#include <cstring>

namespace stepwise::emulator {
namespace {

constexpr std::int64_t slice_instructions = 65536;  // of one split before others get their turn
constexpr unsigned idle_rounds_before_rotation = 8;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

int first_lane(std::uint32_t mask) { return __builtin_ctz(mask); }
std::uint32_t count_of(std::uint32_t mask) {
  return static_cast<std::uint32_t>(__builtin_popcount(mask));
}

template <class T>
void fill_row(std::byte* row, std::uint64_t value) {
  T* d = reinterpret_cast<T*>(row);
  for (int l = 0; l < lanes; ++l) d[l] = static_cast<T>(value);
}

void write_row(std::byte* row, unsigned bytes, std::uint64_t value) {
  switch (bytes) {
    case 0:
      *reinterpret_cast<std::uint32_t*>(row) = value != 0 ? all_lanes : 0;
      break;
    case 2:
      fill_row<std::uint16_t>(row, value);
      break;
    case 4:
      fill_row<std::uint32_t>(row, value);
      break;
    default:
      fill_row<std::uint64_t>(row, value);
      break;
  }
}

void write_lane(std::byte* row, unsigned bytes, int lane, std::uint64_t value) {
  if (bytes == 2)
    reinterpret_cast<std::uint16_t*>(row)[lane] = static_cast<std::uint16_t>(value);
  else if (bytes == 4)
    reinterpret_cast<std::uint32_t*>(row)[lane] = static_cast<std::uint32_t>(value);
  else
    reinterpret_cast<std::uint64_t*>(row)[lane] = value;
}

std::uint64_t volume(const extent& e) { return std::uint64_t{e.x} * e.y * e.z; }

extent place(std::uint64_t index, const extent& size) {
  return {static_cast<std::uint32_t>(index % size.x),
          static_cast<std::uint32_t>(index / size.x % size.y),
          static_cast<std::uint32_t>(index / size.x / size.y)};
}

std::string triple(const extent& e) {
  return "(" + std::to_string(e.x) + "," + std::to_string(e.y) + "," + std::to_string(e.z) + ")";
}

}  // namespace

scheduler::scheduler(launch_state& launch)
    : launch_(launch),
      code_(*launch.code),
      windows_(code_.window_count),
      parameters_(launch.parameters) {
  threads_ = static_cast<std::uint32_t>(volume(launch.config.block));
  warps_ = (threads_ + lanes - 1) / lanes;
  x_.code = code_.code.data();
  x_.host_of_device = launch.memory->host_of_device();
  x_.memory = launch.memory;
  x_.windows = windows_.data();
  x_.parameters = parameters_.data();
  x_.parameter_bytes = parameters_.size();
  x_.shared_bytes = code_.static_shared_bytes + launch.config.dynamic_shared_bytes;
  x_.local_bytes = code_.local_bytes;
  x_.owner = this;
}

// --- blocks ------------------------------------------------------------------------------------

std::unique_ptr<block> scheduler::make_block() {
  auto b = std::make_unique<block>();
  const std::uint64_t registers = round_up(code_.register_bytes, 64);
  const std::uint64_t local = round_up(x_.local_bytes * lanes, 64);
  const std::uint64_t shared = round_up(x_.shared_bytes, 64);
  const std::uint64_t bytes = warps_ * (registers + local) + shared + 64;
  b->storage = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::byte* next =
      reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uint64_t>(b->storage.get()), 64));
  b->warps.resize(warps_);
  b->shared = next + warps_ * (registers + local);
  for (std::uint32_t k = 0; k < warps_; ++k) {
    warp& w = b->warps[k];
    w.registers = next + k * registers;
    w.local = next + warps_ * registers + k * local;
    std::memset(w.registers, 0, registers);
    for (const constant_row& c : code_.constants)
      write_row(w.registers + c.offset, c.bytes, c.value);
    for (const parameter_row& p : code_.parameters) {
      std::uint64_t value = 0;
      std::memcpy(&value, parameters_.data() + p.parameter_offset, p.bytes);
      if (p.is_signed && p.bytes < 8 && (value >> (8 * p.bytes - 1)) != 0)
        value |= ~std::uint64_t{0} << (8 * p.bytes);
      write_row(w.registers + p.offset, p.row_bytes, value);
    }
    const extent& size = launch_.config.block;
    const extent& grid = launch_.config.grid;
    for (const special_row& s : code_.specials) {
      for (int l = 0; l < lanes; ++l) {
        const std::uint32_t thread = k * lanes + static_cast<std::uint32_t>(l);
        const extent at = place(thread, size);
        const std::uint32_t bit = std::uint32_t{1} << l;
        std::uint64_t v = 0;
        switch (s.which) {
          case special::tid_x:
            v = at.x;
            break;
          case special::tid_y:
            v = at.y;
            break;
          case special::tid_z:
            v = at.z;
            break;
          case special::ntid_x:
            v = size.x;
            break;
          case special::ntid_y:
            v = size.y;
            break;
          case special::ntid_z:
            v = size.z;
            break;
          case special::nctaid_x:
            v = grid.x;
            break;
          case special::nctaid_y:
            v = grid.y;
            break;
          case special::nctaid_z:
            v = grid.z;
            break;
          case special::laneid:
            v = static_cast<std::uint64_t>(l);
            break;
          case special::warpid:
            v = k;
            break;
          case special::nwarpid:
            v = 64;
            break;
          case special::nsmid:
            v = static_cast<std::uint64_t>(launch_.model->multiprocessors);
            break;
          case special::lanemask_eq:
            v = bit;
            break;
          case special::lanemask_lt:
            v = bit - 1;
            break;
          case special::lanemask_le:
            v = bit | (bit - 1);
            break;
          case special::lanemask_gt:
            v = ~(bit | (bit - 1));
            break;
          case special::lanemask_ge:
            v = ~(bit - 1);
            break;
          case special::dynamic_smem_size:
            v = launch_.config.dynamic_shared_bytes;
            break;
          case special::total_smem_size:
            v = x_.shared_bytes;
            break;
          default:
            break;  // those of a block: see start()
        }
        write_lane(w.registers + s.offset, s.bytes, l, v);
      }
    }
  }
  return b;
}

void scheduler::start(block& b, std::uint64_t index) {
  b.index = index;
  b.alive = threads_;
  b.idle_rounds = 0;
  for (block_barrier& barrier : b.barriers) barrier = {};
  const extent at = place(index, launch_.config.grid);
  for (std::uint32_t k = 0; k < warps_; ++k) {
    warp& w = b.warps[k];
    const std::uint32_t threads = std::min<std::uint32_t>(threads_ - k * lanes, lanes);
    w.alive = threads == lanes ? all_lanes : (std::uint32_t{1} << threads) - 1;
    w.ready.assign(1, {code_.code.data(), w.alive, -1});
    w.parked.clear();
    w.at_barrier.clear();
    w.joins.clear();
    for (const special_row& s : code_.specials) {
      std::uint64_t v;
      switch (s.which) {
        case special::ctaid_x:
          v = at.x;
          break;
        case special::ctaid_y:
          v = at.y;
          break;
        case special::ctaid_z:
          v = at.z;
          break;
        case special::smid:
          v = index % static_cast<std::uint64_t>(launch_.model->multiprocessors);
          break;
        default:
          continue;
      }
      write_row(w.registers + s.offset, s.bytes, v);
    }
  }
}

void scheduler::run() {
  std::vector<std::unique_ptr<block>> unused;
  std::deque<std::unique_ptr<block>> resident;
  while (!launch_.stop.load(std::memory_order_relaxed)) {
    // A new block runs when none is held, or when all that are held wait for something.
    const bool all_wait =
        !resident.empty() && resident.front()->idle_rounds >= idle_rounds_before_rotation;
    if (resident.empty() || (all_wait && resident.size() < launch_.resident_blocks)) {
      const std::uint64_t index = launch_.next_block.fetch_add(1, std::memory_order_relaxed);
      if (index < launch_.block_count) {
        if (unused.empty()) unused.push_back(make_block());
        resident.push_front(std::move(unused.back()));
        unused.pop_back();
        start(*resident.front(), index);
      } else if (resident.empty()) {
        break;
      }
    }
    const block_result r = run_slice(*resident.front());
    if (r == block_result::failed) break;
    if (r == block_result::done) {
      unused.push_back(std::move(resident.front()));
      resident.pop_front();
    } else {
      resident.push_back(std::move(resident.front()));
      resident.pop_front();
    }
  }
  counters_.global_load_bytes += x_.counts.global_load_bytes;
  counters_.global_store_bytes += x_.counts.global_store_bytes;
  counters_.shared_load_bytes += x_.counts.shared_load_bytes;
  counters_.shared_store_bytes += x_.counts.shared_store_bytes;
  counters_.atomics += x_.counts.atomics;
  const std::lock_guard lock(launch_.mutex);
  execution_counters& c = launch_.counters;
  c.warp_instructions += counters_.warp_instructions;
  c.lane_instructions += counters_.lane_instructions;
  c.global_load_bytes += counters_.global_load_bytes;
  c.global_store_bytes += counters_.global_store_bytes;
  c.shared_load_bytes += counters_.shared_load_bytes;
  c.shared_store_bytes += counters_.shared_store_bytes;
  c.atomics += counters_.atomics;
  c.barriers += counters_.barriers;
}

// Runs a block until it ends, or until it only polls for what other blocks must do.
scheduler::block_result scheduler::run_slice(block& b) {
  block_ = &b;
  x_.shared = b.shared;
  b.idle_rounds = 0;
  while (b.alive != 0) {
    bool ran = false;
    progress_ = false;
    const std::uint64_t polls = x_.polls;
    for (warp& w : b.warps) {
      if (w.ready.empty() && !release_joins(w)) continue;
      ran = true;
      run_warp(w);
      if (launch_.stop.load(std::memory_order_relaxed)) return block_result::failed;
    }
    if (b.alive == 0) break;
    if (!ran) {
      report_deadlock(b);
      return block_result::failed;
    }
    if (out_of_time()) return block_result::failed;
    if (progress_ || x_.polls == polls)
      b.idle_rounds = 0;
    else if (++b.idle_rounds >= idle_rounds_before_rotation)
      return block_result::waiting;
  }
  return block_result::done;
}

// --- warps and splits --------------------------------------------------------------------------

void scheduler::run_warp(warp& w) {
  warp_ = &w;
  x_.registers = w.registers;
  x_.local = w.local;
  yielded_ = false;
  do {
    while (!w.ready.empty() && !yielded_) {
      const split s = w.ready.back();
      w.ready.pop_back();
      x_.mask = x_.active = s.mask;
      x_.budget = slice_instructions;
      x_.segment = s.at;
      join_ = s.join;
      const op* i = s.at;
      do i = i->run(x_, i);
      while (i != nullptr);
      if (launch_.stop.load(std::memory_order_relaxed)) return;
    }
  } while (!yielded_ && release_joins(w));
}

// Counts the straight run that ends before the PTX instruction of this ordinal.
void scheduler::account(std::uint32_t ordinal) {
  const std::uint64_t n = ordinal - x_.segment->ordinal;
  counters_.warp_instructions += n;
  counters_.lane_instructions += n * count_of(x_.mask);
  x_.budget -= static_cast<std::int64_t>(n);
}

std::uint64_t scheduler::clock() const { return counters_.warp_instructions; }

void scheduler::push_ready(warp& w, split s) {
  for (split& other : w.ready) {
    if (other.at == s.at && other.join == s.join) {
      other.mask |= s.mask;
      return;
    }
  }
  w.ready.push_back(s);
}

const op* scheduler::branch(const op* i, const op* target) {
  account(i->ordinal + 1);
  x_.segment = target;
  return x_.budget > 0 ? target : yield(target);
}

// The running split goes behind all others; lanes that wait for it at joins no longer do.
const op* scheduler::yield(const op* at) {
  warp& w = *warp_;
  w.ready.insert(w.ready.begin(), {at, x_.mask, join_});
  release_joins(w);
  yielded_ = true;
  return nullptr;
}

int scheduler::new_join(warp& w) {
  for (std::size_t k = 0; k < w.joins.size(); ++k)
    if (w.joins[k].at == nullptr) return static_cast<int>(k);
  w.joins.emplace_back();
  return static_cast<int>(w.joins.size()) - 1;
}

const op* scheduler::diverge(const op* i, std::uint32_t taken) {
  account(i->ordinal + 1);
  warp& w = *warp_;
  const op* target = x_.code + i->immediate;
  const op* meet = i->slot == no_row ? nullptr : x_.code + i->slot;
  // A loop whose lanes leave one after the other keeps using the join of the first that left.
  if (meet != nullptr && !(join_ >= 0 && w.joins[static_cast<std::size_t>(join_)].at == meet)) {
    const int fresh = new_join(w);
    w.joins[static_cast<std::size_t>(fresh)] = {meet, x_.mask, 0, join_};
    join_ = fresh;
  }
  const std::uint32_t stay = x_.mask & ~taken;
  join_point* join = meet != nullptr ? &w.joins[static_cast<std::size_t>(join_)] : nullptr;
  if (target == meet) {
    join->arrived |= taken;
    taken = 0;
  } else if (i + 1 == meet) {
    join->arrived |= stay;
    x_.mask = x_.active = taken;
    x_.segment = target;
    return x_.budget > 0 ? target : yield(target);
  }
  if (taken != 0) push_ready(w, {target, taken, join_});
  x_.mask = x_.active = stay;
  x_.segment = i + 1;
  return i + 1;
}

const op* scheduler::reach_join(const op* i) {
  warp& w = *warp_;
  while (join_ >= 0) {
    join_point& join = w.joins[static_cast<std::size_t>(join_)];
    if (join.at != i) break;
    join.arrived |= x_.mask;
    account(i->ordinal);
    x_.segment = i;
    if (join.arrived != join.expected) return nullptr;
    x_.mask = x_.active = join.arrived;
    join_ = join.parent;
    join.at = nullptr;
  }
  return i + 1;
}

void scheduler::complete_join(warp& w, int index) {
  join_point& join = w.joins[static_cast<std::size_t>(index)];
  const split s{join.at, join.arrived, join.parent};
  join.at = nullptr;
  push_ready(w, s);
}

// Lets the lanes that wait at joins go on without those that have not come. True if there were any.
bool scheduler::release_joins(warp& w) {
  bool any = false;
  for (join_point& join : w.joins) {
    if (join.at == nullptr || join.arrived == 0) continue;
    const split s{join.at, join.arrived, join.parent};
    join.expected &= ~join.arrived;
    join.arrived = 0;
    if (join.expected == 0) join.at = nullptr;
    push_ready(w, s);
    any = true;
  }
  return any;
}

const op* scheduler::exit_lanes(const op* i, std::uint32_t mask) {
  account(i->ordinal + 1);
  progress_ = true;
  warp& w = *warp_;
  w.alive &= ~mask;
  block_->alive -= count_of(mask);
  for (std::size_t k = 0; k < w.joins.size(); ++k) {
    join_point& join = w.joins[k];
    if (join.at == nullptr) continue;
    join.expected &= ~mask;
    if (join.expected == 0)
      join.at = nullptr;
    else if (join.arrived == join.expected)
      complete_join(w, static_cast<int>(k));
  }
  if (!w.parked.empty()) check_parked(w);
  check_barriers();
  x_.mask &= ~mask;
  x_.active = x_.mask;
  x_.segment = i + 1;
  return x_.mask != 0 ? i + 1 : nullptr;
}

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
    push_ready(w, {i + 1, x_.mask, join_});
  } else {
    w.at_barrier.push_back({{i, x_.mask, join_}, id});
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
        auto* d = reinterpret_cast<std::uint32_t*>(w.registers + i->d);
        for (int l = 0; l < lanes; ++l)
          if ((mask >> l) & 1) d[l] = held;
      } else if (site.reduction != barrier_reduction::none) {
        auto& d = *reinterpret_cast<std::uint32_t*>(w.registers + i->d);
        const bool holds =
            site.reduction == barrier_reduction::logical_and ? held == arrived : held != 0;
        d = (d & ~mask) | (holds ? mask : 0);
      }
      push_ready(w, {i + 1, mask, wait.waiting.join});
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
    w.ready.push_back({i, others, join_});
    x_.mask = x_.active = x_.mask & ~others;
  }
  if ((members & w.alive & ~x_.mask) == 0) {
    std::uint64_t staged[lanes];
    for (int l = 0; l < lanes; ++l) staged[l] = staged_value(i, l);
    exchange(i, x_.mask, staged, x_.mask);
    return i + 1;
  }
  account(i->ordinal);
  x_.segment = i;
  w.parked.push_back({{i, x_.mask, join_}, members});
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

void scheduler::finish_exchange(warp& w, std::uint32_t members) {
  const std::uint32_t saved = x_.active;
  std::uint64_t staged[lanes] = {};
  std::uint32_t participants = 0;
  for (const auto& p : w.parked) {
    if (p.members != members) continue;
    participants |= p.waiting.mask;
    for (std::uint32_t m = p.waiting.mask; m != 0; m &= m - 1)
      staged[first_lane(m)] = staged_value(p.waiting.at, first_lane(m));
  }
  std::erase_if(w.parked, [&](const warp::parked_split& p) {
    if (p.members != members) return false;
    exchange(p.waiting.at, p.waiting.mask, staged, participants);
    const std::uint64_t count = count_of(p.waiting.mask);
    counters_.warp_instructions += 1;
    counters_.lane_instructions += count;
    push_ready(w, {p.waiting.at + 1, p.waiting.mask, p.waiting.join});
    return true;
  });
  x_.active = saved;
}

// What a lane puts in: its source operand, or one bit for a vote.
std::uint64_t scheduler::staged_value(const op* i, int lane) const {
  const sync_site& site = code_.syncs[i->slot];
  switch (site.kind) {
    case sync_kind::warp_barrier:
      return 0;
    case sync_kind::vote_all:
    case sync_kind::vote_any:
    case sync_kind::vote_uni:
    case sync_kind::vote_ballot:
      return ((x_.predicate(i->a) >> lane) & 1) ^ (site.source_negated ? 1u : 0u);
    case sync_kind::match_any64:
    case sync_kind::match_all64:
      return x_.row<std::uint64_t>(i->a)[lane];
    default:
      return x_.row<std::uint32_t>(i->a)[lane];
  }
}

namespace {

// The lane that a shuffle reads, or -1 where it is out of the segment's range.
int shuffle_source(sync_kind kind, int lane, std::uint32_t b, std::uint32_t c) {
  const int offset = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31);
  const int segment = static_cast<int>((c >> 8) & 31);
  const int highest = (lane & segment) | (clamp & ~segment);
  const int lowest = lane & segment;
  int source = 0;
  bool in_range = false;
  switch (kind) {
    case sync_kind::shfl_up:
      source = lane - offset;
      in_range = source >= highest;
      break;
    case sync_kind::shfl_down:
      source = lane + offset;
      in_range = source <= highest;
      break;
    case sync_kind::shfl_bfly:
      source = lane ^ offset;
      in_range = source <= highest;
      break;
    default:
      source = lowest | (offset & ~segment);
      in_range = source <= highest;
      break;
  }
  return in_range ? source : -1;
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
  std::uint32_t ballot = 0;
  for (std::uint32_t m = participants; m != 0; m &= m - 1)
    if (staged[first_lane(m)] != 0) ballot |= m & -m;
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
    case sync_kind::vote_all:
      set_predicate(i->d, ballot == participants ? all_lanes : 0);
      return;
    case sync_kind::vote_any:
      set_predicate(i->d, ballot != 0 ? all_lanes : 0);
      return;
    case sync_kind::vote_uni:
      set_predicate(i->d, ballot == participants || ballot == 0 ? all_lanes : 0);
      return;
    case sync_kind::vote_ballot:
      set_lanes([&](int) { return ballot; });
      return;
    case sync_kind::shfl_up:
    case sync_kind::shfl_down:
    case sync_kind::shfl_bfly:
    case sync_kind::shfl_idx: {
      const std::uint32_t* b = x_.row<std::uint32_t>(i->b);
      const std::uint32_t* c = x_.row<std::uint32_t>(i->c);
      std::uint32_t valid = 0;
      std::uint32_t out[lanes];
      for (std::uint32_t m = mask; m != 0; m &= m - 1) {
        const int l = first_lane(m);
        const int source = shuffle_source(site.kind, l, b[l], c[l]);
        if (source >= 0) valid |= m & -m;
        out[l] = static_cast<std::uint32_t>(staged[source >= 0 ? source : l]);
      }
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

// --- failures ----------------------------------------------------------------------------------

void scheduler::fail(error code, std::string message) {
  const std::lock_guard lock(launch_.mutex);
  launch_.stop.store(true);
  if (launch_.failure.ok()) launch_.failure = {code, std::move(message)};
}

bool scheduler::out_of_time() {
  if (std::chrono::steady_clock::now() < launch_.deadline) return false;
  const op* at = nullptr;
  for (const warp& w : block_->warps)
    if (at == nullptr && !w.ready.empty()) at = w.ready.front().at;
  const std::string line = at != nullptr ? code_.source_line(at) : "";
  std::string limit = std::to_string(launch_.time_limit_s);
  limit.erase(limit.find_last_not_of('0') + 1);
  if (limit.back() == '.') limit.pop_back();
  fail(error::launch_timeout, code_.pretty + (line.empty() ? "" : " at " + line) +
                                  ": still running after the time limit of " + limit +
                                  " s; does every loop end?");
  return true;
}

std::string scheduler::thread_name(const block& b, const warp& w, int lane) const {
  const auto index =
      static_cast<std::uint64_t>(&w - b.warps.data()) * lanes + static_cast<std::uint64_t>(lane);
  return "block " + triple(place(b.index, launch_.config.grid)) + ", thread " +
         triple(place(index, launch_.config.block));
}

const op* scheduler::stop(const op* i, error code, const std::string& what, int lane) {
  const std::string line = code_.source_line(i);
  fail(code, code_.pretty + (line.empty() ? "" : " at " + line) + ": " + what + "; " +
                 thread_name(*block_, *warp_, lane));
  return nullptr;
}

const op* scheduler::stop(const op* i, const access_fault& fault) {
  const char* verb = fault.kind == access_kind::load    ? "read"
                     : fault.kind == access_kind::store ? "write"
                                                        : "atomic operation";
  static constexpr const char* spaces[] = {"global", "shared", "local", "parameter", "generic"};
  char address[32];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(fault.address));
  std::string what = std::to_string(fault.bytes) + "-byte " + verb + " at " +
                     spaces[static_cast<int>(fault.space)] + " address " + address;
  if (fault.misaligned) {
    what = "misaligned: " + what + ", which is not a multiple of " + std::to_string(fault.bytes);
  } else {
    what = "out of bounds: " + what;
    const auto bytes = [](std::uint64_t n) {
      return std::to_string(n) + (n == 1 ? " byte" : " bytes");
    };
    if (fault.space == memory_space::shared) {
      what += ", outside the block's " + bytes(x_.shared_bytes) + " of shared memory";
    } else if (fault.space == memory_space::local) {
      what += ", outside the thread's " + bytes(x_.local_bytes) + " of local memory";
    } else if (const auto near = launch_.memory->before(fault.address)) {
      const std::uint64_t past = fault.address - near->base;
      what += past >= near->bytes ? ", " + bytes(past - near->bytes) +
                                        " past the end of an allocation of " + bytes(near->bytes)
                                  : ", across the end of an allocation of " + bytes(near->bytes);
    } else {
      what += fault.address < 4096 ? ", a null pointer" : ", which no allocation holds";
    }
  }
  return stop(i, fault.misaligned ? error::misaligned_address : error::illegal_address, what,
              fault.lane);
}

void scheduler::report_deadlock(const block& b) {
  std::string what = "deadlock: no thread of the block can go on";
  unsigned told = 0;
  for (const warp& w : b.warps) {
    const auto tell = [&](const split& s, const std::string& where) {
      if (told++ >= 3) return;
      const std::string line = code_.source_line(s.at);
      what += (told == 1 ? ": " : ", ") + std::to_string(count_of(s.mask)) + " threads of warp " +
              std::to_string(&w - b.warps.data()) + " wait at " + where +
              (line.empty() ? "" : " at " + line);
    };
    for (const auto& wait : w.at_barrier)
      tell(wait.waiting, "barrier " + std::to_string(wait.barrier));
    for (const auto& p : w.parked) tell(p.waiting, "a warp-wide operation");
  }
  fail(error::launch_timeout,
       code_.pretty + ": " + what + "; block " + triple(place(b.index, launch_.config.grid)));
}

}  // namespace stepwise::emulator
