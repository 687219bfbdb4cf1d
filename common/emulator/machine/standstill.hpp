// The places of the threads of an unfinished launch, for messages and findings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/emulator/machine/observer.hpp"

namespace stepwise::emulator {

// Warps that do the same thing at one source line.
struct stuck_warps {
  enum class doing : std::uint8_t { run, poll, wait_at_barrier, wait_for_cluster, wait_for_lanes };
  doing what = doing::run;
  const op* at = nullptr;  // the first warp's op
  unsigned barrier = 0;
  std::uint64_t warps = 0, blocks = 0, threads = 0;
  std::uint64_t first_block = 0, last_block = 0;
  std::uint32_t last_warp = 0;  // in its block
  // The memory that the first of them polls, if it is known: a device address, or an offset in
  // shared memory.
  bool knows_memory = false;
  bool is_mbarrier = false;
  memory_space space = memory_space::global;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t word = 0;  // an mbarrier's content
};

// "4 warps of block (0,0,0) poll"
std::string words_of(const stuck_warps& g, const extent& grid);

struct standstill {
  // Whether the launch was found never to end. If not, the time limit has expired.
  bool is_proven = false;
  std::vector<stuck_warps> groups;
  std::uint64_t threads = 0;  // that have not exited, in blocks that have begun
  std::uint64_t unbegun_blocks = 0;
  std::string about_registers;  // describes the first wait for registers; empty: there is none
  bool is_full = false;         // for a proven standstill: no other block can begin
};

}  // namespace stepwise::emulator
