// Finds uses of local variables that are not set: in registers and in the kernel's local memory.
//
// idea    Ops of a watched kernel follow unset values through its registers (lower/lower_unset.cpp)
//         and report where they are read first and where they have an effect. Ops cannot follow
//         values through memory. Therefore, this check remembers which bytes of a thread's own
//         variables were never stored to, and where an unset value was stored to local or shared
//         memory.
// watch   A value in shared memory is not reported where it is stored: blocks often exchange more
//         elements than there are, and use only the valid ones.
//         Tested by tests/programs/faulty/unset/.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/emulator/check/evidence.hpp"

namespace stepwise::emulator {

class unset_check final : public check {
 public:
  explicit unset_check(evidence& all) : check(all) {}

  void begin_launch(const launch_info& info) override;
  void end_launch() { blocks_.end_launch(); }
  void begin_block(const block& b) override;
  void switch_to(const block& b) override;
  void read_unset(const warp_event& e, std::uint32_t origin) override;
  void used_unset(const warp_event& e, std::uint32_t use, bool by_store) override;
  std::uint32_t loaded_unset(std::uint32_t warp, unsigned element) override;
  // Called for each access of the launch, before it is made.
  void note_access(const access_event& e) {
    if (watches_) follow(e);
  }
  // Notes bytes of shared memory that something other than a lane's store has written.
  void note_written_shared(std::uint64_t at, std::uint64_t bytes);

 private:
  // A first read of an unset value.
  struct first_read {
    const op* at = nullptr;  // null: there was none
    std::uint32_t warp = 0, block = 0;
    int lane = 0;
    std::uint64_t number = 0;
  };
  struct block_memory {
    std::vector<std::uint32_t> unset_local;  // per warp and byte: the lanes for which it is not set
    std::vector<std::uint8_t> unset_shared;  // per byte; empty until an unset value is stored
  };

  void follow(const access_event& e);
  void follow_local(const access_event& e, std::uint32_t unset);
  void follow_shared(const access_event& e, std::uint32_t unset);
  void report(const warp_event& e, std::uint32_t use);
  std::uint64_t local_bytes() const { return evidence_.code->checked_local.bytes; }

  bool watches_ = false;
  std::vector<first_read> first_reads_;  // by origin
  std::uint64_t reads_ = 0;
  by_block<block_memory> blocks_;
  // A use of an unset value by the next store of a warp.
  struct coming_store {
    std::uint32_t warp = 0, lanes = 0, use = 0;
    const op* at = nullptr;
  };
  coming_store store_;
  std::uint32_t loaded_[4] = {};  // by element of the last load: the lanes that read unset bytes
};

}  // namespace stepwise::emulator
