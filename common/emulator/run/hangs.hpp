// Launches that can never end: whose threads only wait, in a state that repeats.
//
// idea    The launch's state is compared from one turn of all resident blocks to the next: where
// its
//         warps are and their registers, and once these repeat also the memory that they write. If
//         all of it is the same, every later turn is the same, too, unless something from outside
//         intervenes: the host, where it can write what was read; a copy or a kernel in another
//         stream, or a block that has not begun; or the time, which therefore is made to pass while
//         the rest repeats. Registers that depend on a clock are not compared.
// watch   Only in a launch that is checked. A block costs nothing before it has run for long.
//         Tested by check/tests/programs (endless_*, and correct programs that wait for long).
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "common/emulator/machine/memory.hpp"
#include "common/emulator/machine/observer.hpp"
#include "common/emulator/machine/observers.hpp"
#include "common/emulator/machine/program.hpp"

namespace stepwise::emulator {

struct launch_state;

// Notes what the threads of a launch read and write.
class hang_watch final : public observer {
 public:
  hang_watch(const context& x, const launch_state& launch) : x_(x), launch_(launch) {}

  // What a warp polls at one op: reads as memory that others change.
  struct poll {
    std::uint32_t lanes = 0;
    int lane = 0;
    memory_space space = memory_space::global;
    std::uint64_t address = 0;  // of that lane
    std::uint64_t bytes = 0;
  };
  using polls_of_block = std::map<std::pair<std::uint32_t, const op*>, poll>;  // by warp and op

  // Forgets all that was noted: a period begins.
  void begin_period();
  // Whether memory is again what it was when the period began, as far as this was followed.
  bool memory_is_as_before() const;
  // Whether another stream, the host, or a block that has not begun could write what was read.
  bool others_could_intervene(bool blocks_begin) const;
  const std::map<const block*, polls_of_block>& polls() const { return polls_; }

  void turn_to(const block& b) override { block_ = &b; }
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
  std::unordered_map<const std::byte*, std::uint64_t> before_;  // words that were written
  bool is_lost_ = false;            // something changed that is not followed
  bool reads_host_memory_ = false;  // that the host can write at any time
  bool reads_device_memory_ = false;
  access_window known_;  // device memory that was looked up last
  std::map<const block*, polls_of_block> polls_;
};

// Looks for a period in a launch's states, on the worker that runs it.
class hang_search {
 public:
  hang_search(context& x, const launch_state& launch);

  hang_watch notes;
  observers both;                 // what watches the launch, and `notes`
  bool is_noting = false;         // since a state seemed to repeat
  bool only_time_passes = false;  // from turn to turn
  unsigned turns = 0;             // of all blocks
  unsigned next_period = 1;       // the turn at which the state is kept the next time
  std::uint64_t state = 0;        // that was kept
  std::uint64_t since_ns = 0;     // when it was kept
  std::uint64_t readings = 0;     // of clocks, until then

  // The registers of a warp's lanes in a function, without those that depend on a clock.
  void add_registers(std::uint64_t& hash, std::uint32_t function, const std::byte* registers);

 private:
  struct row {
    std::uint32_t offset, bytes;
  };
  const std::vector<row>& rows_of(std::uint32_t function);

  const program& code_;
  std::map<std::uint32_t, std::vector<row>> rows_;  // by function
};

}  // namespace stepwise::emulator
