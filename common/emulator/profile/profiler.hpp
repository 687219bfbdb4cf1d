// The observer that counts the hardware cost of each line of a program.
//
// idea    A site is a memory instruction; a warp that reaches it adds to its counters. For all
//         other instructions, the ends of each straight run are marked, and sums over the marks
//         give the counts on request. Only then are sites and instructions combined by source line.
// watch   Nothing is allocated or locked while a kernel runs. The same launches give the same
//         counts.
// Tested by tests/profiler_test.cpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/emulator/machine/observer.hpp"
#include "common/emulator/profile/code_view.hpp"
#include "common/emulator/profile/requests.hpp"
#include "common/emulator/profile/trace.hpp"
#include "common/emulator/time/timer.hpp"
#include "common/report/profile.hpp"

namespace stepwise::emulator {

class profiler final : public observer {
 public:
  // `timing`: the model also times launches.
  explicit profiler(const gpu& model, const std::optional<timer::options>& timing = {});
  ~profiler() override;

  void begin_launch(const launch_info& launch) override;
  status end_launch(const status& failure) override;
  bool wants(std::uint64_t block) override;
  std::int64_t slice() override;
  void begin_block(const block& b) override;
  void end_block(const block& b) override;
  void switch_to(const block& b) override;
  std::uint32_t access(const access_event& e) override;
  void access_range(const warp_event& e, const range_event& r) override;
  bool interleaves_blocks() override { return timer_ != nullptr && timer_->interleaves_blocks(); }
  void executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                std::uint32_t lanes) override;
  void diverged(const warp_event& e, std::uint32_t taken) override;
  void used_mbarrier(const warp_event& e, const mbarrier_event& m) override;

  // Returns the counts since the last call, with kernels in the order of their first launch.
  std::vector<kernel_profile> take();
  // The modelled time of the last launch, if it was timed.
  std::optional<modelled_launch> last_launch() const { return last_; }

 private:
  struct site_counts;
  struct record;

  [[gnu::always_inline]] void count_shared(const access_event& e, const site_plan& p,
                                           const std::uint64_t* offset);
  bool waits_for_own_lanes(std::uint32_t warp, std::uint32_t ordinal, std::uint32_t lanes) const;
  unsigned sectors_to_peers(const access_event& e, const site_plan& p,
                            const std::uint64_t* address);
  void count_constant(const access_event& e);
  unsigned wavefronts_of(shared_use use, const std::uint64_t* offset, std::uint32_t active,
                         unsigned bytes) const;
  void add_cache_counts();
  void add_time();
  double us_without_divergence(const launch_time& t) const;
  void record_lines(const access_event& e, const site_plan& p, const std::uint64_t* address,
                    unsigned sectors, unsigned ideal_sectors, bool whole);
  void time_access(const access_event& e, recorded_access a, std::span<const recorded_line> lines);
  void note_uncounted(const warp_event& e);
  void end_ranges();
  record& record_for(const launch_info& launch);
  kernel_profile describe(const launch_info& launch, const code_view& view) const;
  kernel_profile finish(record& r) const;

  gpu model_;
  memory_rules rules_;
  std::vector<std::unique_ptr<record>> records_;
  record* now_ = nullptr;  // of the running launch
  // Shortcuts into *now_.
  const site_plan* plans_ = nullptr;
  site_counts* sites_ = nullptr;
  trace trace_;
  std::unique_ptr<timer> timer_;  // null: no times
  std::uint64_t timed_launches_ = 0;
  std::optional<modelled_launch> last_;
  const warp_time* time_ = nullptr;  // of a kernel that reads a clock
  touched_lines touched_;
  // The runs of bytes that form one request so far.
  struct range_request {
    std::uint32_t site = no_site;
    bool is_shared = false;
    std::uint64_t first = 0, bytes = 0;
    touched_lines lines;
    std::uint16_t words[32] = {};  // of shared memory, by bank
  };
  static constexpr std::uint32_t no_site = 0xffffffffu;
  range_request ranges_;
  std::uint32_t ranges_warp_ = 0;
  // The addresses that the cp.async whose write comes next reads, their shape's serial number (0:
  // it has none) and first address, and the site.
  std::uint64_t copied_from_[32] = {};
  std::uint64_t copied_shape_ = 0, copied_first_ = 0;
  std::uint32_t copied_at_ = 0;
  std::uint64_t copied_sectors_ = 0;  // sectors that the current bulk copy reads from global memory
  std::uint32_t received_by_ =
      instruction_place::none;  // the instruction for which a block has counted them
  // The phases of mbarriers, by the emulator's address of each mbarrier.
  struct phase_count {
    std::uint32_t phases = 0;  // completed
    bool parity = false;
  };
  std::unordered_map<const std::uint64_t*, phase_count> phases_;
  // The last signal of the current run. It lets an arrival of several lanes be recorded once.
  struct {
    std::uint32_t ordinal = ~0U;
    std::uint64_t address = 0;
    mbarrier_use use = mbarrier_use::begins;
  } last_signal_;
  const block* block_ = nullptr;          // the running block
  bool in_cluster_ = false;               // the launch has clusters of several blocks
  bool has_polled_ = false;               // the current run has polled an mbarrier
  std::vector<std::uint64_t> last_poll_;  // by warp: its last run if that polled, else 0
  std::uint64_t polling_block_ = 0;       // the block of last_poll_'s warps
};

}  // namespace stepwise::emulator
