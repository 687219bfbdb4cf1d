// Makes the blocks of a launch: their storage, and the registers that hold constants, parameters
// and special values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/emulator/machine/context.hpp"
#include "common/emulator/run/block.hpp"
#include "common/emulator/run/launch_state.hpp"

namespace stepwise::emulator {

class block_maker {
 public:
  // `x`: the worker's state, with the sizes of shared and local memory, and the parameters.
  block_maker(const launch_state& launch, const context& x)
      : launch_(launch),
        code_(*launch.code),
        x_(x),
        threads_(static_cast<std::uint32_t>(volume(launch.config.block))),
        warps_((threads_ + lanes - 1) / lanes) {}

  std::uint32_t threads() const { return threads_; }
  std::uint32_t warps() const { return warps_; }
  std::unique_ptr<block> make() const;
  // Begins a block of the grid in the storage of a block that has ended.
  void start(block& b, std::uint64_t index) const;
  // fill_frame() sets the constants and special registers that all blocks share, and
  // fill_block_values() sets those that differ between blocks.
  void fill_frame(std::byte* registers, const program_function& f, std::uint32_t warp) const;
  void fill_block_values(std::byte* registers, const program_function& f, std::uint64_t index,
                         const extent& at) const;

 private:
  std::uint64_t special_value(special which, std::uint32_t warp, int lane) const;

  const launch_state& launch_;
  const program& code_;
  const context& x_;
  std::uint32_t threads_, warps_;
};

// Whether another block may begin while the resident ones wait.
bool has_room(const launch_state& launch, const block_queue& resident);

}  // namespace stepwise::emulator
