// Runs the blocks of a launch: warps, the splits that they diverge into, and what they wait for.
//
// idea    A warp is a list of splits {op, lanes}. A branch that divides a split makes a join where
//         their ways meet (meeting.hpp); lanes that reach it wait for the others there. Lanes that
//         come to a join further out, by a way out of a loop, leave those in between. The join is a
//         hint, not a barrier: when nothing else in the warp can run, or what runs seems to wait
//         for them, the waiting lanes continue without the rest. So lanes of one warp may wait
//         for each other, as they may on hardware since Volta. The splits of a warp share its
//         slices, so that none starves another.
// watch   A worker runs one block until it ends, and turns to others only while a block polls for
//         something that another block must do. Blocks of one launch may be spread over workers.
// source  PTX ISA 9.0 "bar", "shfl.sync", "match.sync"; CUDA C++ Programming Guide, "Independent
//         Thread Scheduling". Tested by ../tests/programs/.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "common/device/device.hpp"
#include "common/device/patience.hpp"
#include "common/emulator/machine/access.hpp"
#include "common/emulator/machine/memory.hpp"
#include "common/emulator/machine/observer.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/emulator/machine/warp_time.hpp"
#include "common/emulator/run/breaks.hpp"
#include "common/emulator/run/device_library.hpp"

namespace stepwise::emulator {

class grid_launches;
class hang_search;

// The memory that grid.sync() uses in a cooperative launch: its barrier takes a few words.
inline constexpr std::uint64_t grid_workspace_bytes = 256;
inline constexpr const char* grid_barrier_name = "the grid's barrier";

struct standing_warps;
struct standstill;

// What all workers of a launch share.
struct launch_state {
  const program* code = nullptr;
  const gpu* model = nullptr;
  global_memory* memory = nullptr;
  launch_config config;
  std::vector<std::byte> parameters;
  device_library* library = nullptr;
  grid_launches* launches = nullptr;  // of a kernel that calls the runtime
  std::uint64_t stack_limit = 0;      // bytes of each thread
  std::uint64_t grid_workspace = 0;   // device address, of a cooperative launch
  observer* watch = nullptr;          // of a watched program; the launch then has one worker
  const kernel_attributes* attributes = nullptr;
  const image::kernel_resources* machine_code = nullptr;  // null: there is none
  std::uint64_t block_count = 0;
  unsigned resident_blocks = 1;  // that one worker may hold at a time while no warp has exited
  std::atomic<std::uint64_t> next_block{0};
  std::atomic<bool> stop{false};
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  double time_limit_s = 0;          // 0: none
  warp_time* time = nullptr;        // of a kernel whose clocks follow the model; it is watched
  std::uint64_t began_ns = 0;       // what %globaltimer shows when another watched launch begins
  launch_breaks* breaks = nullptr;  // of a launch that its thread may leave
  stepwise::patience patience;
  std::uint64_t skipped_ns = 0;            // of %globaltimer in a watched launch, by waits for it
  std::atomic<bool> tells_of_wait{false};  // says on stderr, once, that it has polled for long
  bool ends_hangs = false;                 // stops the launch if it is found never to end
  bool others_write = true;  // kernels and copies in other streams may run at the same time

  std::mutex mutex;  // guards what follows
  status failure;
  execution_counters counters;
};

// A function that some lanes of a warp are in: its registers, and where they return to.
struct frame {
  std::uint32_t function = 0;  // index into program::functions
  std::byte* registers = nullptr;
  std::unique_ptr<std::byte[]> storage;  // of the registers, except the kernel's
  frame* caller = nullptr;               // null: the kernel's
  const op* call = nullptr;
  int join = -1;            // where the caller's lanes meet after the call
  std::uint32_t lanes = 0;  // still in it
  std::uint64_t local_base = 0, local_end = 0, stack_bytes = 0;
};

struct split {
  const op* at;
  std::uint32_t mask;
  int join;   // index into warp::joins, -1 for none
  frame* in;  // of the function that it runs
};

struct join_point {
  const op* at = nullptr;  // null: unused
  frame* in = nullptr;
  std::uint32_t expected = 0;
  std::uint32_t arrived = 0;
  int parent = -1;
};

// How long a warp has run while lanes waited at its joins, since the last that came there.
struct waiting_time {
  unsigned weight = 0;  // in turns
  unsigned polling_turns = 0;
  std::uint64_t state = 0;  // of the warp after an earlier turn
};

struct warp {
  frame kernel;
  std::vector<std::unique_ptr<frame>> frames;      // of functions, made so far
  std::vector<std::vector<frame*>> unused_frames;  // by function
  std::byte* local = nullptr;
  std::uint32_t alive = 0;
  std::vector<split> ready;  // the last one runs next
  struct parked_split {
    split waiting;
    std::uint32_t members;
  };
  std::vector<parked_split> parked;  // at warp-wide operations, for the other members
  struct barrier_wait {
    split waiting;
    unsigned barrier;
  };
  std::vector<barrier_wait> at_barrier;
  std::uint32_t in_cluster = 0;  // lanes that have arrived at the cluster's barrier
  std::vector<join_point> joins;
  waiting_time since_arrival;
};

// In place of a barrier's number: that of the cluster, which is the block.
inline constexpr unsigned cluster_barrier = 16;

struct block_barrier {
  std::uint32_t arrived = 0;   // threads
  std::uint32_t expected = 0;  // 0: every thread that has not exited
  std::uint32_t count = 0;     // threads whose predicate held
};

struct block {
  std::uint64_t index = 0;
  std::vector<warp> warps;
  std::uint32_t alive = 0;  // threads
  block_barrier barriers[16];
  std::uint32_t barriers_waited_at = 0;  // a bit for each
  bool in_cluster = false;               // some thread has arrived at the cluster's barrier
  std::unique_ptr<std::byte[]> storage;  // registers, local and shared memory
  std::byte* shared = nullptr;
  unsigned idle_rounds = 0;     // rounds of polling without an exit or a barrier
  bool only_polled = false;     // in the last round
  unsigned polling_rounds = 0;  // consecutive rounds that polled, whatever else they did
};

inline int first_lane(std::uint32_t mask) { return __builtin_ctz(mask); }
inline std::uint32_t count_of(std::uint32_t mask) {
  // Of a full warp without a call: not every build has an instruction for it.
  return mask == all_lanes ? lanes : static_cast<std::uint32_t>(__builtin_popcount(mask));
}

// The coordinates of a thread in its block, or a block in its grid, by its number: x runs first.
inline extent place(std::uint64_t index, const extent& size) {
  return {static_cast<std::uint32_t>(index % size.x),
          static_cast<std::uint32_t>(index / size.x % size.y),
          static_cast<std::uint32_t>(index / size.x / size.y)};
}

class scheduler {
 public:
  explicit scheduler(launch_state& launch);
  ~scheduler();

  // Takes blocks until none is left or the launch failed; adds its counters to the launch's, and
  // returns true. False, on the thread that asked for the launch (`asked_here`): it leaves, and
  // another thread shall call run() to continue.
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
  // The stack of the frame that runs: more local memory after it (its offset; nothing after a
  // failure), where it ends, and cutting it back to an end that was saved.
  std::optional<std::uint64_t> extend_frame(const op* i, std::uint64_t bytes);
  std::uint64_t frame_end() const { return frame_->local_end; }
  void cut_frame(std::uint64_t end);
  const op* reach_barrier(const op* i);
  const op* arrive_at_cluster(const op* i);
  const op* wait_for_cluster(const op* i);
  const op* synchronise(const op* i);
  // `advice`: how to fix it, if that is known.
  const op* stop(const op* i, error code, const std::string& what, int lane,
                 const std::string& advice = {});
  const op* trap(const op* i);
  const op* stop(const op* i, const access_fault& fault);
  // What the clocks show to the running warp. Without the model a watched launch counts a
  // nanosecond for each warp instruction, so that what it does and is counted for depends on no
  // clock of the host's.
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
  // For the device's library: a lane's local memory in the frame that runs, and where it is.
  std::byte* frame_bytes(const context& x, int lane) const {
    return x.local + static_cast<std::uint64_t>(lane) * x.local_bytes + frame_->local_base;
  }
  struct thread_place {
    extent block, thread;
  };
  thread_place place_of(int lane) const;
  std::string line_of(const op* i) const { return code_.source_line(i); }

 private:
  enum class block_result { done, waiting, failed, cut, left };

  std::unique_ptr<block> make_block();
  std::uint64_t special_value(special which, std::uint32_t warp, int lane) const;
  void start(block& b, std::uint64_t index);
  bool has_room() const;
  block_result run_slice(block& b);
  void rest();
  bool take_break(bool idle);
  void tell_of_wait(bool idle);
  std::uint64_t counted_ns(const op* i);
  void run_warp(warp& w);
  void follow(const op* i);
  void account(std::uint32_t ordinal);
  warp_event event_at(const op* i, std::uint32_t mask) const { return {warp_index(), mask, i}; }
  // Whether the launch was stopped because of its time limit or a signal.
  bool out_of_time();
  // Called after a turn in which a block only waited. Returns whether the launch was stopped
  // because it never ends. After any other turn of a block, the search starts over.
  bool never_ends();
  bool proves_hang();
  void end_search();
  std::uint64_t state_of_all();
  std::uint64_t elapsed_ns() const;
  standstill stand() const;
  void add_standing(std::vector<standing_warps>& groups, const block& b, standing_warps one) const;
  std::set<std::uint32_t> add_polls(std::vector<standing_warps>& groups, const block& b) const;
  std::string words_of(const standstill& s) const;
  const op* yield(const op* at);
  void push_ready(warp& w, split s);
  bool waits_in_vain(warp& w, bool polled);
  std::uint64_t state_of(const warp& w) const;
  bool release_joins(warp& w);
  void complete_join(warp& w, int join);
  int new_join(warp& w);
  bool waits_at(int join, const op* at) const;
  int join_around(const op* at) const;
  int join_for(const op* meet);
  int join_at(const op* meet);
  const op* meet_behind(const op* branch);
  void leave_join(warp& w, int index, std::uint32_t mask);
  void leave_joins(warp& w, std::uint32_t mask, const frame* in);
  bool overflows(const op* i, std::uint64_t stack_bytes);
  frame* take_frame(warp& w, std::uint32_t function);
  void leave_frames(warp& w, std::uint32_t mask);
  void enter(frame* f);
  void fill_frame(std::byte* registers, const program_function& f, std::uint32_t warp);
  void fill_block_values(std::byte* registers, const program_function& f, std::uint64_t index,
                         const extent& at);
  void copy_local(const std::vector<call_site::piece>& pieces, std::uint64_t caller,
                  std::uint64_t callee, bool back, std::uint32_t mask);
  void check_parked(warp& w);
  void finish_exchange(warp& w, std::uint32_t members);
  bool finish_whole_warp(warp& w, std::uint32_t members);
  void tell_met(const warp& w, std::uint32_t members);
  const op* lacks_lanes(const op* i);
  void exchange(const op* i, std::uint32_t mask, const std::uint64_t* staged,
                std::uint32_t participants);
  void stage(const op* i, std::uint32_t mask, std::uint64_t* staged) const;
  bool exchange_at_once(const op* i);
  void check_barrier(unsigned id);
  void check_barriers();
  void release_barrier(unsigned id);
  void check_cluster();
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
  std::vector<access_shape> shapes_;                  // by access_site
  std::unordered_map<const op*, unsigned> releases_;  // of lanes that waited there for nothing
  std::vector<std::byte> parameters_;
  block* block_ = nullptr;
  warp* warp_ = nullptr;
  int join_ = -1;           // of the running split
  frame* frame_ = nullptr;  // of the running split
  bool progress_ = false;
  std::vector<std::unique_ptr<block>> unused_;
  std::deque<std::unique_ptr<block>> resident_;  // the first one runs next
  bool asked_here_ = false;                      // run() may return before the end
  // A block may wait in a loop with a barrier: it polls in every round, but also does other things.
  // The number of rounds after which other blocks get a turn.
  unsigned most_polling_rounds_ = 1024;
  unsigned rounds_ = 0;          // of blocks
  std::uint64_t next_look_ = 0;  // at the clock, in instructions of warps
  // When rounds without anything but polling began; zero: the last one was none.
  std::chrono::steady_clock::time_point idle_since_{};
  // Readings of %globaltimer at one instruction, with little between them, of a watched launch.
  struct timer_wait {
    const op* at = nullptr;
    unsigned readings = 0;
    std::uint64_t since_ns = 0, last_ns = 0;
  };
  timer_wait timer_wait_;
  std::uint64_t clock_readings_ = 0;
  unsigned waiting_turns_ = 0;           // of blocks, since the last turn that did more than wait
  std::unique_ptr<hang_search> search_;  // null: no reason to search yet
  std::uint32_t threads_ = 0, warps_ = 0;
};

}  // namespace stepwise::emulator
