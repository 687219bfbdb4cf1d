// Runs the blocks of a launch: warps, the splits that they diverge into, and what they wait for.
//
// idea    A warp is a list of splits {op, lanes}. A branch that divides a split makes a join where
//         its paths reconverge (meeting.hpp); lanes that reach it wait for the others there. Lanes
//         that jump out of a loop to an outer join leave the joins in between. The join is a hint,
//         not a barrier: when nothing else in the warp can run, or the running lanes seem to wait
//         for those at the join, the waiting lanes continue without the rest. Lanes of one warp may
//         thus wait for each other, as on hardware since Volta. The splits of a warp share its
//         slices, so that none starves another.
// watch   A worker runs one block until it ends, and switches to others only while a block polls
//         for something that another block must do. Blocks of one launch may be spread over
//         workers.
// source  PTX ISA 9.0 "bar", "shfl.sync", "match.sync"; CUDA C++ Programming Guide, "Independent
//         Thread Scheduling". Tested by ../tests/programs/.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/emulator/machine/access.hpp"
#include "common/emulator/run/block.hpp"
#include "common/emulator/run/block_maker.hpp"
#include "common/emulator/run/hangs.hpp"
#include "common/emulator/run/joins.hpp"
#include "common/emulator/run/launch_state.hpp"

namespace stepwise::emulator {

// Detects a kernel that waits for the time in a watched launch: it reads %globaltimer again and
// again at one instruction, with few instructions between.
class timer_wait {
 public:
  // Returns the nanoseconds that the clock must skip at a reading.
  std::uint64_t skip(const op* at, std::uint64_t now);

 private:
  const op* at_ = nullptr;
  unsigned readings_ = 0;
  std::uint64_t since_ns_ = 0, last_ns_ = 0;
};

// "; the launch has 256 blocks of 1 thread: are the two swapped ...?" if they may be; or empty.
std::string swapped_launch_words(const launch_config& config);

class scheduler {
 public:
  explicit scheduler(launch_state& launch);

  // Runs blocks until none is left or the launch has failed, adds its counters to the launch's, and
  // returns true. On the thread that asked for the launch (`asked_here`) it may leave and return
  // false. Another thread must then call run() to continue.
  bool run(bool asked_here = false);

  // For handlers. Each returns the op to continue with, or null.
  const op* branch(const op* i, const op* target);
  const op* diverge(const op* i, std::uint32_t taken);
  const op* branch_indexed(const op* i);
  const op* reach_join(const op* i);
  const op* exit_lanes(const op* i, std::uint32_t mask);
  const op* call(const op* i);
  const op* return_lanes(const op* i, std::uint32_t mask);
  const op* call_library(const op* i);
  // The stack of the running frame. extend_frame() returns the offset of more local memory after it
  // (nothing after a failure), and cut_frame() truncates it to an end that was saved.
  std::optional<std::uint64_t> extend_frame(const op* i, std::uint64_t bytes);
  std::uint64_t frame_end() const { return frame_->local_end; }
  void cut_frame(std::uint64_t end);
  const op* reach_barrier(const op* i);
  const op* arrive_at_cluster(const op* i);
  const op* wait_for_cluster(const op* i);
  const op* wait_for_warpgroup(const op* i);
  // Performs a bulk copy by calling work(context&) -> bool: now, or after some rounds in an
  // unwatched launch. The call comes at the latest when the thread waits for its groups (if
  // `in_group`), or when the block ends. `work` must not read registers. It returns false if it has
  // stopped the launch. Returns true if the launch was not stopped.
  template <class Work>
  bool do_copy(const op* i, int lane, bool in_group, Work work) {
    if (launch_.copy_seed == 0 || x_.watch != nullptr) return work(x_);
    delay_copy(i, lane, in_group, std::move(work));
    return true;
  }
  const op* wait_for_copies(const op* i);
  const op* change_registers(const op* i, bool more);
  const op* wait_for_registers(const op* i);
  // The rank of the running block in its cluster, whether the launch asked for clusters, and
  // whether this cluster has other blocks.
  std::uint32_t cluster_rank() const { return block_->rank; }
  bool is_in_cluster() const { return launch_.is_explicit_cluster; }
  bool has_peers() const { return block_->together != nullptr; }
  std::byte* reach_peer(const op* i, access_fault fault);
  const op* synchronise(const op* i);
  // `advice`: how to fix it, if that is known.
  const op* stop(const op* i, error code, const std::string& what, int lane,
                 const std::string& advice = {});
  const op* trap(const op* i);
  const op* stop(const op* i, const access_fault& fault);
  // The clocks as the running warp sees them. Without the model, a watched launch counts one
  // nanosecond per warp instruction, so that its results do not depend on a host clock.
  std::uint64_t clock(const op* i);
  std::uint64_t global_time_ns(const op* i);
  void sleep(std::uint32_t ns);

  context& state() { return x_; }
  // For the ops of a watched program.
  const access_site& site(std::uint32_t index) const { return code_.accesses[index]; }
  const std::vector<std::uint32_t>& jump_table(const op* i) const {
    return code_.jump_tables[static_cast<std::size_t>(i->immediate)];
  }
  access_shape& shape(std::uint32_t index) { return shapes_[index]; }
  std::uint32_t warp_index() const {
    return static_cast<std::uint32_t>(warp_ - block_->warps.data());
  }
  void watch_range(const op* i, int lane, memory_space space, std::uint64_t address, const span& s,
                   bool inside);
  // For the device's library: a lane's local memory in the running frame, and its coordinates.
  std::byte* frame_bytes(const context& x, int lane) const {
    return x.local + static_cast<std::uint64_t>(lane) * x.local_bytes + frame_->local_base;
  }
  struct thread_place {
    extent block, thread;
  };
  thread_place place_of(int lane) const;
  std::string line_of(const op* i) const { return code_.source_line(i); }

 private:
  // waiting: the block only polls. parked: all its threads wait for other blocks of its cluster.
  enum class block_result { done, waiting, parked, failed, cut, left };

  bool may_reach_peers(const op* i);
  void delay_copy(const op* i, int lane, bool in_group, std::function<bool(context&)> work);
  template <class IsDue>
  void do_delayed(IsDue is_due);
  bool begin_blocks(std::uint64_t n);
  void retire_front(bool is_reusable);
  std::span<block* const> cluster_blocks() const;
  block_result run_slice(block& b);
  void rest();
  // Reports on stderr, once, that a launch that cannot be left has only polled for long.
  void announce_wait(bool idle);
  std::uint64_t counted_ns(const op* i);
  void run_warp(warp& w);
  void follow(const op* i);
  void account(std::uint32_t ordinal);
  warp_event event_at(const op* i, std::uint32_t mask) const { return {warp_index(), mask, i}; }
  // Whether the launch was stopped because of its time limit or a signal.
  bool out_of_time();
  // Called after a slice in which a block only waited. Returns whether the launch was stopped
  // because it never ends.
  bool never_ends();
  standstill stand() const { return emulator::stand(launch_, resident_, hangs_.notes()); }
  std::string words_of(const standstill& s) const;
  const op* yield(const op* at);
  bool waits_at(int join, const op* at) const;
  int join_around(const op* at) const;
  int join_for(const op* meet);
  int join_at(const op* meet);
  const op* enter_joins(const op* branch);
  bool overflows(const op* i, std::uint64_t stack_bytes);
  frame* take_frame(warp& w, std::uint32_t function);
  void leave_frames(warp& w, std::uint32_t mask);
  void enter(frame* f);
  void copy_local(const std::vector<call_site::piece>& pieces, std::uint64_t caller,
                  std::uint64_t callee, bool back, std::uint32_t mask);
  void check_parked(warp& w);
  void finish_exchange(warp& w, std::uint32_t members);
  bool finish_whole_warp(warp& w, std::uint32_t members);
  void notify_met(const warp& w, std::uint32_t members);
  const op* lacks_lanes(const op* i);
  void exchange(const op* i, std::uint32_t mask, const std::uint64_t* staged,
                std::uint32_t participants);
  void stage(const op* i, std::uint32_t mask, std::uint64_t* staged) const;
  bool exchange_at_once(const op* i);
  void check_barrier(unsigned id);
  void check_barriers();
  void release_barrier(unsigned id);
  void check_cluster();
  void check_warpgroup(std::uint32_t group);
  void give_registers(block& b) const;
  std::uint32_t& free_registers_for(const warp& w);
  void try_to_take(warp& w, std::uint32_t wanted);
  void check_registers();
  bool others_can_run() const;
  bool has_left_long_ago(const block& b, const op* i) const;
  void report_deadlock(const block& b);
  bool is_trap_of_grid_group(const op* i) const;
  std::string thread_name(const block& b, const warp& w, int lane) const;
  void fail(error code, std::string message);

  launch_state& launch_;
  const program& code_;
  context x_;
  execution_counters counters_;
  std::vector<access_window> windows_;
  std::vector<load_stride> strides_;
  std::vector<access_shape> shapes_;  // by access_site
  std::vector<std::byte> parameters_;
  block_maker maker_;
  std::uint32_t registers_at_entry_ = 0;  // of a kernel that moves registers; 0: unknown
  join_patience join_patience_;
  hang_detector hangs_;
  idle_watch idle_;
  block* block_ = nullptr;
  warp* warp_ = nullptr;
  int join_ = -1;           // of the running split
  frame* frame_ = nullptr;  // of the running split
  bool progress_ = false;
  std::vector<std::unique_ptr<block>> unused_;
  std::vector<std::unique_ptr<cluster>> clusters_;  // with blocks that have not ended
  block_queue resident_;                            // the first one runs next
  // The number of polling rounds after which other blocks run. A block may wait in a loop with a
  // barrier: it polls in every round, but also does other things.
  unsigned most_polling_rounds_ = 1024;
  timer_wait timer_wait_;
  std::uint64_t clock_readings_ = 0;
  struct delayed_copy {
    block* of;
    warp* by;
    int lane;
    bool in_group;
    unsigned rounds;  // of its worker's blocks, until the copy takes place
    std::function<bool(context&)> work;
  };
  std::vector<delayed_copy> delayed_;
  const op* reaches_peers_ = nullptr;  // the last op for which may_reach_peers() held
};

}  // namespace stepwise::emulator
