// The blocks that a worker runs: their warps, splits, joins and frames.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/device/device_types.hpp"
#include "common/emulator/machine/program.hpp"

namespace stepwise::emulator {

inline int first_lane(std::uint32_t mask) { return __builtin_ctz(mask); }
inline std::uint32_t count_of(std::uint32_t mask) {
  // A full warp needs no bit count: not every build has an instruction for that.
  return mask == all_lanes ? lanes : static_cast<std::uint32_t>(__builtin_popcount(mask));
}

// Coordinates of a thread in its block, or a block in its grid, by number: x varies fastest.
inline extent place(std::uint64_t index, const extent& size) {
  return {static_cast<std::uint32_t>(index % size.x),
          static_cast<std::uint32_t>(index / size.x % size.y),
          static_cast<std::uint32_t>(index / size.x / size.y)};
}

// The frame of a function that some lanes of a warp execute: its registers, and the caller.
struct frame {
  std::uint32_t function = 0;  // index into program::functions
  std::byte* registers = nullptr;
  std::unique_ptr<std::byte[]> storage;  // of the registers, except the kernel's
  frame* caller = nullptr;               // null: the kernel's
  const op* call = nullptr;
  int join = -1;            // where the caller's lanes reconverge
  std::uint32_t lanes = 0;  // still in it
  std::uint64_t local_base = 0, local_end = 0, stack_bytes = 0;
};

struct split {
  const op* at;
  std::uint32_t mask;
  int join;   // index into warp::joins, -1 for none
  frame* in;  // of the function that it runs
};

// A reconvergence point, where lanes wait for the other lanes of a split that a branch divided.
struct join_point {
  const op* at = nullptr;  // null: unused
  frame* in = nullptr;
  std::uint32_t expected = 0;
  std::uint32_t arrived = 0;
  int parent = -1;

  bool has_lanes() const { return at != nullptr && arrived != 0; }
};

// The time that a warp has run since lanes last arrived at one of its joins, where lanes wait.
struct waiting_time {
  unsigned weight = 0;  // in slices with polls
  unsigned polling_slices = 0;
  std::uint64_t state = 0;  // of the warp after an earlier slice
};

struct warp {
  frame kernel;
  std::vector<std::unique_ptr<frame>> frames;      // of functions, allocated so far
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
  std::uint32_t registers = 0;   // of each thread, as setmaxnreg counts them (register_pool.hpp)
  std::vector<join_point> joins;
  waiting_time since_arrival;

  // Adds lanes that can run, and merges them with a split at the same op if there is one.
  void push_ready(const split& s);
  // The index of an unused join.
  int new_join();
  // The lanes that wait at joins continue without the missing ones. False if no lanes wait.
  bool release_joins();
  // Lanes will not reach a join, or any join of a function (null: of all functions).
  void leave_join(int index, std::uint32_t mask);
  void leave_joins(std::uint32_t mask, const frame* in);
};

// The numbers that stand for the cluster's barrier, for a warpgroup's wait for its products, and
// for a warp's wait for registers.
inline constexpr unsigned cluster_barrier = 16, warpgroup_barrier = 17, register_wait = 18;
inline constexpr unsigned waits_of_block = 19;  // named barriers and these

inline constexpr std::uint32_t warps_in_group = 4;

// A multiprocessor has four register files. A warp uses the file whose number is the warp's index
// in the block, modulo 4.
inline constexpr std::uint32_t partitions = 4;

// "barrier 1", "the cluster's barrier".
inline std::string name_of_wait(unsigned barrier) {
  return barrier == cluster_barrier     ? "the cluster's barrier"
         : barrier == warpgroup_barrier ? "wgmma.wait_group, for the other warps of the warpgroup"
         : barrier == register_wait     ? "setmaxnreg.inc, for registers"
                                        : "barrier " + std::to_string(barrier);
}

// The number, in its grid, of the n-th block that begins. The blocks of a cluster begin together.
std::uint64_t nth_block(std::uint64_t n, const extent& grid, const extent& cluster);

struct block_barrier {
  std::uint32_t arrived = 0;   // threads
  std::uint32_t expected = 0;  // 0: every thread that has not exited
  std::uint32_t count = 0;     // threads whose predicate held
};

struct block;

// A cluster of several blocks.
struct cluster {
  std::vector<block*> blocks;                 // by rank
  std::vector<std::unique_ptr<block>> ended;  // kept, because others may access their memory
  bool some_arrived = false;                  // some thread has arrived at the cluster's barrier
};

struct block {
  std::uint64_t index = 0;
  cluster* together = nullptr;  // null: the block is its own cluster
  std::uint32_t rank = 0;       // in its cluster
  std::vector<warp> warps;
  std::uint32_t alive = 0;    // threads
  std::uint64_t left_at = 0;  // in a cluster: when the last thread exited, in cycles, if known
  block_barrier barriers[16];
  std::uint32_t barriers_waited_at = 0;  // one bit per barrier
  bool in_cluster = false;               // some thread has arrived at the cluster's barrier
  std::uint32_t waiting_warpgroups = 0;  // one bit per group with warps at wgmma.wait_group
  // Registers per thread of a warp, in each partition of the multiprocessor (register_pool.hpp).
  std::array<std::uint32_t, partitions> free_registers{};
  std::unique_ptr<std::byte[]> storage;  // registers, local and shared memory
  std::byte* shared = nullptr;
  std::uint32_t delayed_copies = 0;  // issued by its threads
  unsigned idle_rounds = 0;          // rounds of polling without an exit or a barrier
  bool only_polled = false;          // in the last round
  unsigned polling_rounds = 0;       // consecutive rounds that polled, whatever else they did
};

// The blocks that a worker holds. The first one runs next.
using block_queue = std::deque<std::unique_ptr<block>>;

}  // namespace stepwise::emulator
