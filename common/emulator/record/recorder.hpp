// Records chosen warps of one block, instruction by instruction.
//
// idea    The scheduler follows the warps of one block op by op (observer::follows). All other
//         warps run as usual, and a program that is not recorded pays nothing. An instruction
//         becomes a step when executed() reports its straight run. The profiler counts the same
//         runs, so steps and counters agree. The cost of an access follows the profiler's rules.
// watch   Launches of recorded programs are watched: they run on one worker.
// Tested by tests/recorder_test.cpp.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/device/engine_settings.hpp"
#include "common/emulator/machine/observer.hpp"
#include "common/emulator/profile/code_view.hpp"
#include "common/report/recording.hpp"
#include "common/source_map/source_text.hpp"

namespace stepwise::emulator {

// The recording options.
struct recording_choice {
  std::string file;                        // the output file; empty: nothing is recorded
  std::uint64_t launch = 1;                // counted from 1
  std::vector<std::uint64_t> block = {0};  // its number, or its two or three coordinates
  std::vector<std::uint32_t> warps = {0};  // empty: all of the block
  std::uint64_t first = 1;                 // the first of their instructions to keep
  std::uint64_t steps = 400;               // the most instructions to keep
};

// Reads `record` and `record_of` ("launch=1 block=0,2 warps=0,1 first=1 steps=400"). After an error
// in the latter, prints it to stderr and records nothing.
recording_choice recording_wanted(const engine_settings& settings);

class warp_recorder final : public observer {
 public:
  warp_recorder(const gpu& model, recording_choice choice);
  ~warp_recorder() override;

  // Names an allocation for the recording; "" if nothing is known about it.
  std::function<std::string(device_address)> name_of_allocation;

  void begin_launch(const launch_info& launch) override;
  status end_launch(const status& failure) override;
  void begin_block(const block& b) override;
  void end_block(const block& b) override;
  void switch_to(const block& b) override;
  bool follows(const block& b, std::uint32_t warp) override;
  void before(const context& x, const op* i) override;
  void after(const context& x, const op* i, const op* next) override;
  std::uint32_t access(const access_event& e) override;
  void access_range(const warp_event& e, const range_event& r) override;
  void used_mbarrier(const warp_event& e, const mbarrier_event& m) override;
  void executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                std::uint32_t lanes) override;

 private:
  // An instruction that has begun, until its straight run is reported.
  struct begun {
    std::uint32_t ordinal;
    warp_recording::step step;
    std::byte* registers;
    std::vector<const std::uint64_t*> mbarriers = {};  // the words of step.barriers
  };
  struct known_instruction;
  struct function_text;

  bool is_recorded(std::uint32_t warp) const;
  bool is_full() const;
  const known_instruction& instruction_at(std::uint32_t ordinal);
  std::vector<warp_recording::written_register> registers_of(std::uint32_t function,
                                                             const ptx::instruction& i);
  std::string text_of(std::uint32_t function, const ptx::instruction& i);
  void place(warp_recording::instruction& to, std::uint32_t ordinal);
  void capture(begun& b, const context& x);
  void keep(warp_recording::step step, std::uint32_t ordinal, std::uint32_t lanes);
  void cost(warp_recording::access& a, const site_plan& p, const access_event& e,
            const std::uint64_t* address);
  std::vector<warp_recording::fill> take_fills();
  std::int32_t area_at(std::uint64_t address);
  void leave_out_unused();
  void write() const;

  gpu model_;
  memory_rules rules_;
  recording_choice choice_;
  std::uint64_t launches_ = 0;
  bool on_ = false, here_ = false;  // the launch is recorded; its block runs now
  const block* block_ = nullptr;
  launch_info launch_;
  std::unique_ptr<code_view> view_;
  warp_recording kept_;
  std::vector<begun> begun_;
  std::unordered_map<std::uint32_t, known_instruction> known_;  // by ordinal
  std::map<std::uint32_t, function_text> texts_;                // by function
  std::map<std::uint64_t, std::int32_t> areas_;                 // by address
  std::map<std::string, std::int32_t> files_;
  std::map<std::uint32_t, std::uint32_t> filled_;  // by word of shared memory: its last writer
  source_text sources_;
  std::uint64_t copied_from_[32] = {};
};

}  // namespace stepwise::emulator
