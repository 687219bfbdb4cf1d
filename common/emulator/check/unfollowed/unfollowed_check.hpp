// Reports the operations that the checks do not follow, so that silence about them is not taken for
// a verdict.
#pragma once

#include <string>

#include "common/emulator/check/evidence.hpp"
#include "common/emulator/check/unfollowed/bulk_loads.hpp"

namespace stepwise::emulator {

class unfollowed_check final : public check {
 public:
  explicit unfollowed_check(evidence& all) : check(all) {}

  void begin_launch(const launch_info& info) override;
  status end_launch(const status& failure) override;
  void begin_block(const block& b) override;
  void end_block(const block& b) override;
  void switch_to(const block& b) override { loads_.switch_to(b); }
  void released_barrier(unsigned id, bool whole_block) override;
  void arrived_at(const warp_event& e, int lane, std::uint64_t shared_offset) override;
  void saw_phase(const warp_event& e, int lane, std::uint64_t shared_offset) override;

  // A range of shared memory was written, perhaps by a bulk copy.
  void wrote(const written_range& w) { last_write_ = w; }
  bool has_loads() const { return !loads_.current().empty(); }
  // A use of shared memory.
  void use(const op* at, std::uint32_t warp, int lane, std::uint64_t first, std::uint64_t bytes);
  void use(const access_event& e);

 private:
  void not_followed(std::int64_t why, std::int64_t where, code_place at, std::string action,
                    std::string message, const char* advice);
  unsigned phase_parity(std::uint64_t barrier) const;

  by_block<bulk_loads> loads_;
  written_range last_write_;
};

}  // namespace stepwise::emulator
