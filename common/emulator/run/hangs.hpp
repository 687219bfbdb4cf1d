// Detects launches that can never end: their threads only wait, in a state that repeats.
//
// idea    After each pass over all resident blocks, the launch's state is compared with an earlier
//         one. The state consists of the positions of the warps and their registers and, once
//         these repeat, also of the memory that the warps write. If the whole state repeats, it
//         repeats forever unless something outside the launch intervenes: the host, if it can write
//         the memory that was read; a copy or a kernel in another stream; a block that has not
//         begun; or the passing of time. So clocks advance while the rest repeats. Registers that
//         depend on a clock are not compared.
// watch   This happens only in a checked launch. A block costs nothing until it has run for a long
//         time. Tested by check/tests/programs (endless_*, and correct programs that wait long).
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "common/emulator/machine/memory.hpp"
#include "common/emulator/machine/observer.hpp"
#include "common/emulator/machine/observers.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/emulator/machine/standstill.hpp"
#include "common/emulator/run/block.hpp"
#include "common/emulator/run/launch_state.hpp"

namespace stepwise::emulator {

// Notes what the threads of a launch read and write.
class hang_watch final : public observer {
 public:
  hang_watch(const context& x, const launch_state& launch) : x_(x), launch_(launch) {}

  // A warp's polling at one op, by reads that expect others to change the memory.
  struct poll {
    std::uint32_t lanes = 0;
    int lane = 0;
    memory_space space = memory_space::global;
    std::uint64_t address = 0;  // that `lane` reads
    std::uint64_t bytes = 0;
  };
  using polls_of_block = std::map<std::pair<std::uint32_t, const op*>, poll>;  // by warp and op

  // Forgets everything noted so far, because a period begins.
  void begin_period();
  // Whether the memory that was followed has the same contents as when the period began.
  bool memory_is_as_before() const;
  // Whether another stream, the host, or a block that has not begun could write the memory read.
  bool others_could_intervene(bool blocks_begin) const;
  const std::map<const block*, polls_of_block>& polls() const { return polls_; }

  void switch_to(const block& b) override { block_ = &b; }
  std::uint32_t access(const access_event& e) override;
  void access_range(const warp_event& e, const range_event& r) override;
  void heap_gave(const warp_event&, int, device_address, std::uint64_t) override {
    is_lost_ = true;
  }
  void heap_got(const warp_event&, int, device_address, bool) override { is_lost_ = true; }

 private:
  void note_read(std::uint64_t address);
  void note_write(const std::byte* at, std::uint64_t bytes);
  void note_poll(std::uint32_t warp, const op* at, const poll& p);
  const std::byte* bytes_at(memory_space space, std::uint64_t address, int lane) const;

  const context& x_;
  const launch_state& launch_;
  const block* block_ = nullptr;
  std::unordered_map<const std::byte*, std::uint64_t> before_;  // earlier values of written words
  bool is_lost_ = false;            // memory changed that is not followed
  bool reads_host_memory_ = false;  // memory that the host can write at any time
  bool reads_device_memory_ = false;
  access_window known_;  // the device memory that was looked up last
  std::map<const block*, polls_of_block> polls_;
};

// Looks for a period in the states of a launch, on the worker that runs the launch.
class hang_search {
 public:
  hang_search(context& x, const launch_state& launch);

  hang_watch notes;
  observers both;                 // the launch's observer, and `notes`
  bool is_noting = false;         // true once a state seemed to repeat
  bool only_time_passes = false;  // nothing else changes from pass to pass
  unsigned passes = 0;            // over all blocks
  unsigned next_period = 1;       // the pass at which the state will be saved next
  std::uint64_t state = 0;        // the saved state
  std::uint64_t since_ns = 0;     // when it was saved
  std::uint64_t readings = 0;     // of clocks, up to that time

  // Adds the registers of a warp's lanes in a function, except those that depend on a clock.
  void add_registers(std::uint64_t& hash, std::uint32_t function, const std::byte* registers);

 private:
  struct range {  // of a frame's registers
    std::uint32_t offset, bytes;
  };
  const std::vector<range>& ranges_of(std::uint32_t function);

  const program& code_;
  std::map<std::uint32_t, std::vector<range>> ranges_;  // by function
};

// Recognises a checked launch that never ends, on the worker that runs it.
class hang_detector {
 public:
  hang_detector(launch_state& launch, context& x, const execution_counters& counters)
      : launch_(launch), x_(x), counters_(counters) {}

  // Called after a slice in which a block only waited. Returns where the threads are if the launch
  // never ends.
  std::optional<standstill> look(const block_queue& resident, std::uint64_t clock_readings);
  // After any other slice of a block, the search starts over.
  void end_search();
  // The accesses of a search that has begun; null before.
  const hang_watch* notes() const { return search_ != nullptr ? &search_->notes : nullptr; }

 private:
  std::uint64_t state_of_all(const block_queue& resident);
  std::uint64_t elapsed_ns() const;
  std::optional<standstill> prove(const block_queue& resident, std::uint64_t clock_readings);

  launch_state& launch_;
  context& x_;
  const execution_counters& counters_;
  unsigned waiting_slices_ = 0;          // of blocks, since the last slice that did more than wait
  std::unique_ptr<hang_search> search_;  // null: no reason to search yet
};

// Finds the places of a launch's threads. `notes`: the memory that they poll, if it is known.
standstill stand(const launch_state& launch, const block_queue& resident, const hang_watch* notes);

}  // namespace stepwise::emulator
