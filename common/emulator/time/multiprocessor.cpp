// The simulation. The partition that can issue first does so, until every block has ended.
#include "common/emulator/time/multiprocessor.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include "common/emulator/time/prepared_code.hpp"

namespace stepwise::emulator {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::uint32_t no_instruction = 0xffffffffU;
constexpr double most_special = 2;  // special functions of one PTX instruction
constexpr unsigned most_partitions = 8;

struct block_state;

struct warp_state {
  const warp_trace* trace = nullptr;
  block_state* of = nullptr;
  std::size_t piece = 0, access = 0;
  const timed_run* run = nullptr;
  std::uint32_t next = 0;
  unsigned partition = 0;
  std::size_t place = 0;                  // in its partition
  double begun = 0;                       // the block's start
  double issued = 0;                      // the end of its last instruction's slots
  double after = 0;                       // when the next one can issue, apart from its operands
  stall held = stall::instruction_fetch;  // what `after` waits for, beyond `issued`
  double needs = 0;                       // when its operands are ready
  std::uint32_t needs_from = no_instruction;
  bool was_busy = false;  // its pipe or the memory path was busy when it was due
  double predicated = 0;  // slots of instructions that were jumped over, to be issued with the next
  struct value {
    double at = 0;
    std::uint32_t from = no_instruction;  // ordinal
  };
  std::vector<value> registers;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> slots;  // of the run: accesses [first, end)
  // The times when the groups of an asynchronous unit are complete.
  struct group_list {
    std::vector<value> closed;
    value open;
    void add(double done, std::uint32_t from) {
      if (done > open.at) open = {done, from};
    }
    void close() {
      closed.push_back(open);
      open = {};
    }
    // The time when all but the newest `left` groups are complete. With -1, the time when all
    // copies are complete, including those that are not in a group yet.
    value done(int left) const {
      value last = left < 0 ? open : value{};
      const std::size_t keep = left < 0 ? 0 : static_cast<std::size_t>(left);
      for (std::size_t g = closed.size() > keep + known ? closed.size() - keep - known : 0;
           g + keep < closed.size(); ++g)
        if (closed[g].at > last.at) last = closed[g];
      return last;
    }
    // Groups complete in order, so checking the newest ones is enough.
    static constexpr std::size_t known = 16;
  };
  group_list copies, bulk_copies, products;
  bool has_polled = false;
  std::uint64_t phase = 0;  // the awaited phase, a key of block_state::phases
  bool waits_for_phase = false;
  bool is_in_cluster_barrier = false;  // has arrived
  bool waits_for_cluster = false;
  double cluster_open = 0;  // when the cluster's barrier last opened
  double stored = -1e9;     // when its stores to global memory are complete
};

// A phase of an mbarrier. It ends when all arrivals and bytes recorded for it have come.
struct phase_state {
  unsigned missing = 0;
  double at = 0;                            // the time of the last arrival or byte so far
  std::uint32_t ended_by = no_instruction;  // the instruction that sent it
  std::vector<warp_state*> waiting;
};

constexpr std::uint64_t phase_key(const recorded_signal& s) {
  return std::uint64_t{s.barrier} << 32 | s.phase;
}

struct block_state {
  std::unordered_map<std::uint64_t, phase_state> phases;
  std::unordered_map<std::uint32_t, double> last_arrival;  // by mbarrier
  unsigned in_cluster_barrier = 0;                         // warps that have arrived
  double cluster_arrived = -1e9;
  std::vector<std::unique_ptr<warp_state>> warps;
  unsigned alive = 0, waiting = 0;
  double arrived = -1e9;  // the last warp at a barrier
  double ended = 0;       // the last warp
};

class simulation {
 public:
  simulation(const multiprocessor_work& work, const gpu_costs& costs)
      : work_(work),
        code_(*work.code),
        costs_(costs),
        prepared_(*work.trace, code_, costs),
        memory_(costs, work.active, work.l1_bytes, work.sites, work.memory, work.all_resident),
        start_interval_(std::max(1U, work.active) / costs.block_starts),
        branch_waits_(
            std::max(0.0, costs.predicate - costs.of[static_cast<int>(unit::alu)].latency)) {
    out_.stalled.resize(code_.at.size());
  }

  multiprocessor_time run() {
    const std::vector<block_trace>& traced = work_.trace->blocks;
    const auto warps = static_cast<double>(traced.empty() ? 0 : traced[0].warps.size());
    const double turnover = costs_.turnover + costs_.turnover_per_warp * warps;
    std::size_t next = 0;
    double last_start = -start_interval_;
    const auto start = [&](double at) {
      last_start = std::max(at, last_start + start_interval_);
      begin(traced[next++], last_start);
    };
    while (next < traced.size() && blocks_.size() < work_.resident) start(0);
    while (!blocks_.empty()) {
      if (!step()) break_deadlock();
      for (std::size_t b = 0; b < blocks_.size(); ++b) {
        if (blocks_[b]->alive != 0) continue;
        const double ended = blocks_[b]->ended;
        ends_.push_back(ended);
        forget(*blocks_[b]);
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(b--));
        if (next < traced.size()) start(ended + turnover);
      }
    }
    return result();
  }

 private:
  struct partition_state {
    std::vector<warp_state*> warps;  // the oldest first
    std::vector<double> ready;       // when each can be issued; never: waits for a barrier
    double free = 0;
    double unit_free[units] = {};
    double soonest = 0;  // a lower bound on `ready`
    warp_state* last = nullptr;
  };

  // --- blocks ---

  void begin(const block_trace& b, double at) {
    auto fresh = std::make_unique<block_state>();
    for (const warp_trace& t : b.warps)
      for (const recorded_signal& s : t.signals)
        if (!s.waits) ++fresh->phases[phase_key(s)].missing;
    for (const warp_trace& t : b.warps) {
      auto w = std::make_unique<warp_state>();
      w->trace = &t;
      w->of = fresh.get();
      w->registers.assign(code_.register_count, {at, no_instruction});
      w->begun = w->issued = w->after = at;
      w->partition = next_partition_++ % std::min(costs_.partitions, most_partitions);
      ++fresh->alive;
      partition_state& p = partitions_[w->partition];
      w->place = p.warps.size();
      p.warps.push_back(w.get());
      p.ready.push_back(at);
      fresh->warps.push_back(std::move(w));
    }
    ++next_partition_;  // the next block's first warp goes to another partition
    blocks_.push_back(std::move(fresh));
    block_state& here = *blocks_.back();
    for (const auto& w : here.warps) prepare(*w);
  }

  void forget(const block_state& b) {
    for (partition_state& p : partitions_) {
      std::size_t kept = 0;
      for (std::size_t n = 0; n < p.warps.size(); ++n) {
        if (p.warps[n]->of == &b) continue;
        p.warps[n]->place = kept;
        p.warps[kept] = p.warps[n];
        p.ready[kept++] = p.ready[n];
      }
      p.warps.resize(kept);
      p.ready.resize(kept);
    }
  }

  void end_warp(warp_state& w) {
    ready(w) = never;
    --w.of->alive;
    // The block's place becomes free when its stores are complete.
    const double store_wait =
        costs_.store_wait + costs_.store_wait_per_warp * static_cast<double>(w.of->warps.size());
    w.after = std::max(w.after, w.stored + store_wait);
    w.of->ended = std::max(w.of->ended, w.after);
    out_.warp_cycles += w.after - w.begun;
    release_if_all(*w.of, w.after);
    open_cluster_if_all(*w.of, w.after);
  }

  // --- waits for other warps and for copies ---

  void resume(warp_state& w, double at, std::uint32_t from) {
    const timed_op& op = w.run->ops[w.next];
    w.waits_for_phase = w.waits_for_cluster = false;
    const double waited = std::max(0.0, at - w.after);
    const bool is_for_copy = from != no_instruction && code_.at[from].kind == step_kind::bulk_copy;
    note(op.ordinal, is_for_copy ? stall::memory_dependency : stall::synchronization, waited);
    if (from != no_instruction) out_.waited_for[std::uint64_t{op.ordinal} << 32 | from] += waited;
    w.issued = w.after = std::max(w.after, at);
    for (std::uint32_t r = 0; r < op.written; ++r)
      w.registers[code_.names[op.first_written + r]] = {w.after, op.ordinal};
    ++w.next;
    partitions_[w.partition].soonest = 0;  // look again
    prepare(w);
  }

  void contribute(block_state& b, const recorded_signal& s, double at, std::uint32_t from) {
    phase_state& p = b.phases[phase_key(s)];
    if (at >= p.at) p.ended_by = from;
    p.at = std::max(p.at, at);
    if (p.missing == 0 || --p.missing != 0) return;
    const std::vector<warp_state*> waiting = std::move(p.waiting);
    p.waiting.clear();
    for (warp_state* w : waiting) resume(*w, p.at + costs_.async.wake, from);
  }

  // Counts the arrivals and bytes of an instruction. Returns the time when the warp may continue.
  double send_signals(warp_state& w, const timed_op& op, double at, double done) {
    const instruction_cost& c = code_.at[op.ordinal];
    const auto [first, end] = w.slots[op.slot];
    double free = at;
    for (std::uint32_t n = first; n < end; ++n) {
      const recorded_access& a = w.trace->accesses[n];
      if (!a.is_signal) continue;
      const recorded_signal& s = w.trace->signals[a.first_line];
      if (s.waits) continue;
      double arrives = done;
      if (op.kind == step_kind::signal) {
        if (s.is_remote && c.releases_cluster) free = at + costs_.async.cluster_release;
        double& last = w.of->last_arrival[s.barrier];
        last = std::max(free, last + costs_.async.arrival_of_warp);
        arrives = last + costs_.async.arrival;
      }
      if (s.is_remote) arrives += costs_.async.remote_arrival;
      contribute(*w.of, s, arrives, op.ordinal);
    }
    return free;
  }

  // The phase for which a try_wait or test_wait succeeded when it was recorded. Null if it did not
  // succeed, or if it tested the phase before the first.
  const recorded_signal* awaited(const warp_state& w, const timed_op& op) const {
    const auto [first, end] = w.slots[op.slot];
    for (std::uint32_t n = first; n < end; ++n)
      if (const recorded_access& a = w.trace->accesses[n]; a.is_signal)
        return &w.trace->signals[a.first_line];
    return nullptr;
  }

  void open_cluster_if_all(block_state& b, double at) {
    if (b.in_cluster_barrier == 0 || b.in_cluster_barrier < b.alive) return;
    b.in_cluster_barrier = 0;
    const double open = std::max(at, b.cluster_arrived) + costs_.async.cluster_barrier;
    for (const auto& w : b.warps) {
      w->is_in_cluster_barrier = false;
      w->cluster_open = open;
      if (w->waits_for_cluster) resume(*w, open, no_instruction);
    }
  }

  void release_if_all(block_state& b, double at) {
    if (b.waiting == 0 || b.waiting < b.alive) return;
    const double open = at + costs_.barrier_latency;
    b.waiting = 0;
    for (const auto& w : b.warps) {
      if (!waits_at_barrier(*w)) continue;
      w->after = std::max(w->after, open);
      note(w->run->ops[w->next].ordinal, stall::synchronization, w->after - w->issued);
      w->issued = w->after;
      w->next++;
      prepare(*w);
    }
  }

  double& ready(const warp_state& w) { return partitions_[w.partition].ready[w.place]; }

  bool waits_at_barrier(const warp_state& w) {
    return ready(w) == never && w.run != nullptr && w.next < w.run->ops.size() &&
           w.run->ops[w.next].kind == step_kind::barrier;
  }

  void break_deadlock() {
    // These warps wait for a signal that comes after the end of the trace or from another block.
    for (const auto& b : blocks_)
      for (const auto& w : b->warps)
        if (w->waits_for_phase || w->waits_for_cluster) {
          if (w->waits_for_phase) std::erase(b->phases[w->phase].waiting, w.get());
          return resume(*w, now_, no_instruction);
        }
    for (const auto& b : blocks_) {
      if (b->waiting == 0) continue;
      b->alive = b->waiting;  // the trace does not reach the end of the others
      release_if_all(*b, now_);
      return;
    }
    for (const auto& b : blocks_) b->alive = 0;
  }

  // --- a warp's next instruction ---

  bool load_run(warp_state& w) {
    const auto& pieces = w.trace->pieces;
    if (w.piece == pieces.size()) return false;
    const std::uint32_t run = pieces[w.piece].run;
    std::uint32_t copies = prepared_.most_copies(run), same = 1;
    while (same < copies && w.piece + same < pieces.size() && pieces[w.piece + same].run == run)
      ++same;
    if (same < copies) copies = 1;
    if (w.piece != 0) {
      const auto& runs = work_.trace->runs;
      const instruction_cost& last = code_.at[runs[pieces[w.piece - 1].run].end - 1];
      if (last.skipped_slots > 0 && last.target == runs[run].first)
        w.predicated += last.skipped_slots;
    }
    w.run = &prepared_.run(run, copies);
    w.next = 0;
    if (const double there = prepared_.fetched(run, w.after); there > w.after) {
      w.after = there;
      w.held = stall::instruction_fetch;
    }
    w.slots.assign(std::size_t{copies} * w.run->memory_ops, {0, 0});
    for (std::uint32_t c = 0; c < copies; ++c) {
      const std::uint32_t end = pieces[w.piece].accesses;
      for (std::uint32_t n = 0; n < end; ++n, ++w.access) {
        const recorded_access& a = w.trace->accesses[w.access];
        auto& s = w.slots[c * w.run->memory_ops + prepared_.memory_place(run, a.ordinal)];
        if (s.first == s.second) s.first = static_cast<std::uint32_t>(w.access);
        s.second = static_cast<std::uint32_t>(w.access) + 1;
      }
      ++w.piece;
    }
    return true;
  }

  // Advances to the next instruction that takes a slot, and finds when it can be issued.
  void prepare(warp_state& w) {
    for (;;) {
      while (w.run == nullptr || w.next == w.run->ops.size()) {
        if (!load_run(w)) return end_warp(w);
      }
      const timed_op& op = w.run->ops[w.next];
      warp_state::value last{w.after, no_instruction};
      const auto need = [&](const warp_state::value& v) {
        if (v.at > last.at) last = v;
      };
      // A branch waits longer for a comparison than arithmetic does.
      const double longer = op.kind == step_kind::branch ? branch_waits_ : 0;
      for (std::uint32_t r = 0; r < op.reads; ++r) {
        const warp_state::value& v = w.registers[code_.names[op.first_read + r]];
        need({v.from == no_instruction ? v.at : v.at + longer, v.from});
      }
      const bool acts = op.slots > 0 || op.kind == step_kind::barrier ||
                        op.kind == step_kind::wait_copies || op.kind == step_kind::commit ||
                        is_asynchronous(op.kind);
      if (!acts) {
        for (std::uint32_t r = 0; r < op.written; ++r)
          w.registers[code_.names[op.first_written + r]] = last;
        ++w.next;
        continue;
      }
      if (op.kind == step_kind::wait_copies) need(w.copies.done(op.groups_left));
      if (op.kind == step_kind::wait_bulk) need(w.bulk_copies.done(op.groups_left));
      if (op.kind == step_kind::wait_products) need(w.products.done(op.groups_left));
      w.needs = ready(w) = last.at;
      w.needs_from = last.from;
      w.was_busy = false;
      partition_state& p = partitions_[w.partition];
      p.soonest = std::min(p.soonest, last.at);
      return;
    }
  }

  // --- why it waited ---

  void note(std::uint32_t ordinal, stall why, double cycles) {
    if (cycles > 0) out_.stalled[ordinal].of[static_cast<int>(why)] += cycles;
  }

  stall dependency_on(std::uint32_t from) const {
    if (from == no_instruction) return stall::execution_dependency;
    const instruction_cost& c = code_.at[from];
    if (c.is_memory && !c.is_shared) return stall::memory_dependency;
    if (c.is_memory || c.on == unit::exchange || c.on == unit::reduce)
      return stall::shared_dependency;
    return c.on == unit::special ? stall::special_functions : stall::execution_dependency;
  }

  void note_waiting(const warp_state& w, const timed_op& op, double at) {
    out_.stalled[op.ordinal].issued += op.slots;
    note(op.ordinal, w.held, w.after - w.issued);
    if (const double waited = w.needs - w.after; waited > 0) {
      note(op.ordinal, dependency_on(w.needs_from), waited);
      if (w.needs_from != no_instruction)
        out_.waited_for[std::uint64_t{op.ordinal} << 32 | w.needs_from] += waited;
    }
    const bool to_memory = op.is_memory || op.on == unit::exchange || op.kind == step_kind::barrier;
    note(op.ordinal,
         !w.was_busy              ? stall::not_selected
         : to_memory              ? stall::memory_throttle
         : op.on == unit::special ? stall::special_functions
                                  : stall::pipe_busy,
         at - w.needs);
  }

  // --- issuing ---

  bool step() {
    partition_state* best = nullptr;
    double at = never;
    for (unsigned n = 0; n < std::min(costs_.partitions, most_partitions); ++n) {
      partition_state& p = partitions_[n];
      const double t = std::max(p.free, p.soonest);
      if (t < at) {
        at = t;
        best = &p;
      }
    }
    if (best == nullptr) return false;
    // Prefers the warp that issued last, or otherwise the oldest warp that can issue.
    warp_state* chosen = nullptr;
    double own = never, soonest = never;  // of the chosen warp, and of the others
    for (std::size_t n = 0; n < best->ready.size(); ++n) {
      const double r = best->ready[n];
      if (r <= at && (chosen == nullptr || best->warps[n] == best->last)) {
        soonest = std::min(soonest, std::exchange(own, r));
        chosen = best->warps[n];
      } else {
        soonest = std::min(soonest, r);
      }
    }
    best->soonest = soonest;
    if (chosen == nullptr) return soonest != never || at != never;
    issue(*best, *chosen, at);
    return true;
  }

  void issue(partition_state& p, warp_state& w, double at) {
    const timed_op& op = w.run->ops[w.next];
    // If its pipe is busy, another warp goes first.
    if (const double wait = busy_until(p, op); wait > at + 1e-9) {
      ready(w) = wait;
      p.soonest = std::min(p.soonest, wait);
      // Shorter waits only show that the pipe's rate is below one instruction per cycle.
      w.was_busy = w.was_busy || wait > at + 0.5;
      return;
    }
    note_waiting(w, op, at);
    const double slots = op.slots + w.predicated;
    if (w.predicated > 0) occupy(p, unit::integer, at, w.predicated);
    w.predicated = 0;
    out_.slots += slots;
    p.free = at + slots;
    p.last = &w;
    w.issued = w.after = at + std::max(slots, 1.0);
    now_ = std::max(now_, at);
    double done = at + result_latency(costs_, op.on, slots);
    if (op.kind == step_kind::product) {
      const double cycles = costs_.tensor.interval(op.tensor);
      double& tensor = p.unit_free[static_cast<int>(unit::tensor)];
      tensor = std::max(at, tensor) + cycles;
      tensor_busy_ += cycles;
      w.products.add(tensor + costs_.tensor.product_latency, op.ordinal);
      done = at;
    } else if (op.tensor.kind != tensor_work::form::none) {
      const double cycles = costs_.tensor.interval(op.tensor);
      double& tensor = p.unit_free[static_cast<int>(unit::tensor)];
      tensor = std::max(at, tensor) + cycles;
      tensor_busy_ += cycles;
      done = at + costs_.tensor.latency(op.tensor);
    } else if (op.is_memory) {
      done = std::max(done, access(w, op, at));
      if (op.kind == step_kind::store && !op.is_shared) w.stored = std::max(w.stored, done);
    } else if (op.on == unit::exchange) {
      done = memory_.exchange(at, slots);
    } else {
      occupy(p, op.on, at, slots);
    }
    for (std::uint32_t r = 0; r < op.written; ++r)
      w.registers[code_.names[op.first_written + r]] = {done, op.ordinal};
    switch (op.kind) {
      case step_kind::branch:
        if (std::exchange(w.has_polled, false)) break;
        if (w.next + 1 == w.run->ops.size() || op.slots < 1) {
          w.after = at + std::max(1.0, costs_.branch * std::min(1.0F, op.slots));
          w.issued = std::min(w.issued, w.after);
          w.held = stall::instruction_fetch;
        }
        break;
      case step_kind::barrier:
        w.of->arrived = std::max(memory_.barrier(at), w.of->arrived + costs_.barrier_per_warp);
        w.issued = w.after = w.of->arrived;
        ready(w) = never;
        ++w.of->waiting;
        p.soonest = 0;  // look again
        return release_if_all(*w.of, w.after);
      case step_kind::commit:
        w.copies.close();
        break;
      case step_kind::commit_bulk:
        w.bulk_copies.close();
        break;
      case step_kind::commit_products:
        w.products.close();
        break;
      case step_kind::signal:
      case step_kind::arrive_copies:
      case step_kind::bulk_copy:
        w.after = std::max(w.after, send_signals(w, op, at, done));
        break;
      case step_kind::wait_phase: {
        const recorded_signal* const s = awaited(w, op);
        w.has_polled = s == nullptr;
        if (s == nullptr) break;
        phase_state& phase = w.of->phases[phase_key(*s)];
        // The hardware suspends the warp. Its next branch may have no machine code to wait in.
        if (phase.missing == 0)
          return resume(w, std::max(done, phase.at + costs_.async.wake), phase.ended_by);
        phase.waiting.push_back(&w);
        w.phase = phase_key(*s);
        w.waits_for_phase = true;
        ready(w) = never;
        p.soonest = 0;
        return;
      }
      case step_kind::arrive_cluster:
        if (std::exchange(w.is_in_cluster_barrier, true)) break;
        // All blocks on a multiprocessor share the unit that receives arrivals.
        cluster_unit_free_ =
            std::max(at, cluster_unit_free_ + costs_.async.cluster_barrier_of_warp);
        w.of->cluster_arrived = cluster_unit_free_;
        ++w.of->in_cluster_barrier;
        open_cluster_if_all(*w.of, at);
        break;
      case step_kind::wait_cluster:
        if (!w.is_in_cluster_barrier) {
          w.after = std::max(w.after, w.cluster_open);
          w.held = stall::synchronization;
          break;
        }
        w.waits_for_cluster = true;
        ready(w) = never;
        p.soonest = 0;
        return;
      case step_kind::fence_proxy:
        w.after = at + costs_.async.proxy_fence;
        w.held = stall::synchronization;
        break;
      default:
        break;
    }
    ++w.next;
    prepare(w);
  }

  // Performs an access, and returns the time when its result is ready.
  double access(warp_state& w, const timed_op& op, double at) {
    const auto [first, end] = w.slots[op.slot];
    if (first == end) return at;  // no lane takes part
    const auto all = std::span(w.trace->accesses).subspan(first, end - first);
    if (op.kind == step_kind::bulk_copy) {
      const auto blocks =
          std::ranges::count_if(all, [&](const recorded_access& a) { return a.is_signal; });
      const double done =
          memory_.bulk_copy(all, std::max<unsigned>(1, static_cast<unsigned>(blocks)), at);
      w.bulk_copies.add(done, op.ordinal);
      return done;
    }
    if (op.kind == step_kind::arrive_copies) return w.copies.done(-1).at;
    if (op.kind == step_kind::wait_phase) return at + costs_.shared_latency;
    if (op.kind == step_kind::signal) {
      memory_.barrier(at);
      return at + costs_.shared_latency;
    }
    double done = memory_.access(code_.at[op.ordinal], all, w.trace->lines, at);
    if (const unsigned blocks = code_.at[op.ordinal].transposed_blocks; blocks != 0)
      done += memory_.exchange(at, blocks) - at;
    if (op.kind == step_kind::copy) w.copies.add(done, op.ordinal);
    if (op.kind == step_kind::store || op.kind == step_kind::atomic)
      send_signals(w, op, at, done);  // st.async, red.async
    return done;
  }

  double busy_until(const partition_state& p, const timed_op& op) const {
    if (op.slots == 0 || op.kind == step_kind::product || op.kind == step_kind::bulk_copy) return 0;
    if (op.is_memory || op.on == unit::exchange || op.kind == step_kind::barrier)
      return op.is_memory && !op.is_shared ? memory_.free_for_global() : memory_.free_for_shared();
    return p.unit_free[static_cast<int>(first_free(p, op.on))];
  }

  // Additions of integers use half of the float pipe, or the other integer pipe.
  static unit first_free(const partition_state& p, unit on) {
    if (on != unit::integer) return on;
    const double alu = p.unit_free[static_cast<int>(unit::alu)];
    const double multiply = p.unit_free[static_cast<int>(unit::multiply)];
    return alu <= multiply ? unit::alu : unit::multiply;
  }

  void occupy(partition_state& p, unit on, double at, double slots) {
    if (on == unit::none || on == unit::branch) return;
    // A quotient or a root is one or two special functions and many ordinary instructions.
    if (on == unit::special && slots > most_special) {
      occupy(p, unit::integer, at, slots - most_special);
      slots = most_special;
    }
    const unit taken = first_free(p, on);
    const int u = static_cast<int>(taken);
    const double cycles =
        slots * costs_.of[static_cast<int>(on == unit::integer ? taken : on)].interval;
    p.unit_free[u] = std::max(at, p.unit_free[u]) + cycles;
    if (taken == unit::fma) fma_busy_ += cycles;
    if (taken == unit::alu) alu_busy_ += cycles;
    // Products of integers use half of the float pipe.
    if (taken == unit::multiply) {
      double& fma = p.unit_free[static_cast<int>(unit::fma)];
      fma = std::max(at, fma) + cycles / 2 * costs_.of[static_cast<int>(unit::fma)].interval;
    }
  }

  // --- the end ---

  // Cycles per block when many blocks follow each other, derived from the simulated blocks.
  double cycles_of_block(double drained) const {
    const std::uint64_t seen = ends_.size();
    const std::uint64_t head = std::min<std::uint64_t>(work_.resident, seen - 1);
    double each = seen > 2 * head && head != 0
                      ? (ends_.back() - ends_[head - 1]) / static_cast<double>(seen - head)
                      : drained / static_cast<double>(seen);
    // This is at least the time that each part needs for its share of a block.
    const memory_path::cycles& m = memory_.busy();
    for (const double busy :
         {out_.slots / costs_.partitions, m.l1_pipe, m.l2_read, m.l2_write, m.dram, m.atomics})
      each = std::max(each, busy / static_cast<double>(seen));
    return std::max(each, start_interval_);
  }

  multiprocessor_time result() {
    std::ranges::sort(ends_);
    const double drained = std::max({now_, memory_.drained(), ends_.empty() ? 0 : ends_.back()});
    out_.simulated_cycles = drained;
    // Blocks were truncated where the trace was full. The rest is assumed to run at the same pace.
    std::uint64_t all = 0, recorded = 0;
    for (const block_trace& b : work_.trace->blocks) {
      all += b.instructions;
      recorded += b.recorded;
    }
    const double longer =
        recorded != 0 ? static_cast<double>(all) / static_cast<double>(recorded) : 1;
    out_.cycles = drained;
    out_.sites = memory_.account();
    if (work_.blocks > ends_.size() && !ends_.empty())
      out_.cycles += static_cast<double>(work_.blocks - ends_.size()) * cycles_of_block(drained);
    out_.cycles *= longer;
    const memory_path::cycles& m = memory_.busy();
    const auto set_busy = [&](part p, double busy) {
      out_.busy[static_cast<int>(p)] = std::min(1.0, busy / std::max(1.0, drained));
    };
    set_busy(part::issue, out_.slots / costs_.partitions);
    set_busy(part::alu, alu_busy_ / costs_.partitions);
    set_busy(part::fma, fma_busy_ / costs_.partitions);
    set_busy(part::tensor, tensor_busy_ / costs_.partitions);
    set_busy(part::l1_pipe, m.l1_pipe);
    set_busy(part::l2, std::max(m.l2_read, m.l2_write));  // it reads and writes at the same time
    set_busy(part::dram, dram_bytes() * std::max(1U, work_.active) / costs_.dram_peak_bytes);
    set_busy(part::atomics, m.atomics);
    return std::move(out_);
  }

  double dram_bytes() const {
    double bytes = 0;
    for (const site_account& a : out_.sites)
      bytes += a.dram_read_bytes + a.dram_write_bytes + a.dram_earlier_bytes;
    return bytes;
  }

  const multiprocessor_work& work_;
  const code_costs& code_;
  const gpu_costs& costs_;
  prepared_code prepared_;
  memory_path memory_;
  const double start_interval_, branch_waits_;
  std::vector<std::unique_ptr<block_state>> blocks_;
  partition_state partitions_[most_partitions];
  unsigned next_partition_ = 0;
  std::vector<double> ends_;  // of blocks
  double cluster_unit_free_ = -1e9;
  double now_ = 0, fma_busy_ = 0, alu_busy_ = 0, tensor_busy_ = 0;
  multiprocessor_time out_;
};

}  // namespace

multiprocessor_time simulate(const multiprocessor_work& work, const gpu_costs& costs) {
  return simulation(work, costs).run();
}

}  // namespace stepwise::emulator
