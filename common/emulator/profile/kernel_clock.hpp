// The observer that provides a kernel's clocks. It follows each warp of a launch and simulates the
// caches for its accesses.
//
// idea    Only kernels that read a clock are followed (see kernel_time.hpp); all others are
//         unaffected. A block takes a place on the GPU as soon as one becomes free. Warps that meet
//         at a barrier continue at the same cycle.
// watch   A warp that only reads the time, repeatedly at one instruction, is waiting for it. After
//         `patience` readings, the time passes in growing steps, so that a wait for a second ends
//         after a few thousand readings and is at most 1/64 too long. L2 keeps its contents from
//         launch to launch, but sees only kernels that read clocks.
// Tested by tests/kernel_clock_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "common/emulator/machine/observer.hpp"
#include "common/emulator/machine/warp_time.hpp"
#include "common/emulator/profile/caches.hpp"
#include "common/emulator/profile/requests.hpp"
#include "common/emulator/time/issue_clock.hpp"

namespace stepwise::emulator {

class kernel_clock final : public observer, public warp_time {
 public:
  static constexpr unsigned patience = 1024;

  explicit kernel_clock(const gpu& model);
  ~kernel_clock() override;

  // `ns` is %globaltimer when the next launch begins. `origin_ns` is its value from which cycles
  // are counted. end_ns() is its value when the launch has ended.
  void set_begin(std::uint64_t ns, std::uint64_t origin_ns) {
    begin_ns_ = ns;
    origin_ns_ = origin_ns;
  }
  std::uint64_t end_ns() const { return begin_ns_ + static_cast<std::uint64_t>(end_ / costs_.ghz); }

  void begin_launch(const launch_info& launch) override;
  status end_launch(const status& failure) override;
  void begin_block(const block& b) override;
  void end_block(const block& b) override;
  void switch_to(const block& b) override;
  std::uint32_t access(const access_event& e) override;
  void executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                std::uint32_t lanes) override;
  void reached_barrier(const warp_event& e, unsigned id, bool arrive_only, bool aligned) override;
  void released_barrier(unsigned id, bool whole_block) override;

  std::uint64_t cycles(std::uint32_t warp, const op* at) override;
  std::uint64_t nanoseconds(std::uint32_t warp, const op* at) override;
  void slept(std::uint32_t warp, std::uint32_t ns) override;
  double waited_us() const override;

 private:
  // Readings of the clock at one instruction with nothing but arithmetic between them.
  struct waiting {
    const op* at = nullptr;
    unsigned readings = 0;
    double since = 0;
    std::uint64_t instructions = 0;  // of the warp since the last reading
  };
  struct running_block {
    std::vector<issue_clock> warps;
    std::vector<waiting> waits;
    std::vector<std::pair<std::uint32_t, bool>> at_barrier[16];  // warp, whether it waits
    unsigned multiprocessor = 0;
  };
  double reading(std::uint32_t warp, const op* at);
  double global_latency(const access_event& e, double& l1_pipe);

  gpu model_;
  memory_rules rules_;
  gpu_costs costs_;
  caches caches_;
  bool has_l2_ = false;
  touched_lines touched_;
  struct known_code {
    std::size_t ops = 0;  // with its name, detects another program at the same address
    std::string name;
    std::unique_ptr<code_costs> costs;
    std::unique_ptr<issue_order> order;
  };
  std::map<const program*, known_code> known_;
  issue_order* order_ = nullptr;  // of the running launch
  unsigned warps_ = 0;
  std::uint64_t begin_ns_ = 0, origin_ns_ = 0;
  double end_ = 0;  // cycles of the launch
  bool waited_ = false;
  std::map<std::uint64_t, running_block> blocks_;  // by index
  running_block* now_ = nullptr;
  // The times at which the GPU's places become free, the soonest first.
  std::priority_queue<double, std::vector<double>, std::greater<>> places_;
};

}  // namespace stepwise::emulator
