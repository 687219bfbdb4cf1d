// A launch's straight runs as a multiprocessor executes them: scheduled, and reduced to ops that
// take a slot, access memory or pass on a value. Tested by tests/time_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/emulator/time/code_costs.hpp"
#include "common/emulator/time/costs.hpp"
#include "common/emulator/time/launch_trace.hpp"

namespace stepwise::emulator {

struct timed_op {
  std::uint32_t ordinal;  // of the PTX instruction
  step_kind kind;
  unit on;
  bool is_memory;
  bool is_shared;
  std::int16_t groups_left;
  float slots;
  std::uint32_t first_read, reads, first_written, written;  // code_costs::names
  std::uint32_t slot;                                       // of its accesses, in the run
  tensor_work tensor;
};

struct timed_run {
  std::uint32_t copies = 1;      // iterations of an unrolled loop that are scheduled together
  std::uint32_t memory_ops = 0;  // in one copy
  std::vector<timed_op> ops;
};

class prepared_code {
 public:
  prepared_code(const launch_trace& trace, const code_costs& code, const gpu_costs& costs);

  // The most iterations of a run that ptxas may have scheduled together.
  std::uint32_t most_copies(std::uint32_t run) const;
  const timed_run& run(std::uint32_t run, std::uint32_t copies);
  // The index of the instruction among the run's memory operations.
  std::uint32_t memory_place(std::uint32_t run, std::uint32_t ordinal);
  // When the code of the run is available to a warp that reaches the run at `at`. Code that was not
  // executed before must be fetched.
  double fetched(std::uint32_t run, double at);

 private:
  struct known_run {
    std::vector<std::unique_ptr<timed_run>> by_copies;
    std::vector<std::uint32_t> places;  // of memory operations
    bool is_there = false;              // all of its code was fetched
  };

  const launch_trace& trace_;
  const code_costs& code_;
  const gpu_costs& costs_;
  std::vector<known_run> runs_;
  std::vector<double> there_;  // by ordinal: when its code was fetched; -1: it has not been
  double fetch_ = 0;
};

}  // namespace stepwise::emulator
