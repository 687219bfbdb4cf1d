// Runs only some blocks of each large launch, so that checks at a large size take a second.
//
// idea    Consecutive blocks, drawn by a seed, and the first and the last block run. Consecutive
//         blocks show errors between neighbours. Only a few blocks run, and a block that executes
//         many instructions or touches memory far apart ends early. This bounds the checks' shadow
//         memory.
//
//         Blocks that may wait for each other need the blocks before them, and often a last block
//         that adds up the results of the others. Such a launch begins with block 0 and omits no
//         block. Its limit is 250 times higher, so most launches do not reach it.
// watch   The results of a sampled launch are incomplete. A small kernel is never sampled, because
//         other kernels may need its results. Nor are clusters whose blocks may wait for each
//         other, because no block of a cluster ends early.
// Tested by tests/block_sample_test.cpp.
#pragma once

#include <cstdint>
#include <random>
#include <unordered_map>

#include "common/emulator/machine/observer.hpp"

namespace stepwise::emulator {

class block_sample final : public observer {
 public:
  explicit block_sample(unsigned seed) : random_(seed) {}

  void begin_launch(const launch_info& launch) override;
  bool wants(std::uint64_t block) override;
  std::int64_t slice() override;
  void switch_to(const block& b) override;
  std::uint32_t access(const access_event& e) override;
  void executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                std::uint32_t lanes) override;

 private:
  struct code_facts {
    std::size_t instructions = 0;  // PTX, of the kernel and its functions
    bool has_loops = false, waits_for_blocks = false;
  };
  // Which blocks of a launch run. `from_first`: those from block 0 on, until they have executed
  // enough instructions.
  enum class choice : std::uint8_t { all, from_first, drawn };
  choice choice_for(const launch_info& launch, std::uint64_t blocks);

  std::mt19937_64 random_;
  std::unordered_map<const program*, code_facts> known_;
  choice choice_ = choice::all;
  std::int64_t slice_ = slice_instructions;
  std::uint64_t first_ = 0;  // of the consecutive blocks
  std::uint64_t last_ = 0;   // of the grid
  std::uint64_t block_ = 0;  // the running one
  struct work {
    std::int64_t instructions = 0;     // of warps
    std::int64_t pages = 0;            // of global memory; a page counts again after 256 others
    bool reaches(double share) const;  // this share of the work that is enough
  };
  work of_block_, of_all_;
  std::uint64_t recent_pages_[256] = {};
};

}  // namespace stepwise::emulator
