// The settings of the engine (emulator and runtime). A program inherits them as environment
// variables, because any program may start it.
//
// Tested by tests/engine_settings_test.cpp.
#pragma once

#include <string>
#include <vector>

namespace stepwise {

struct engine_settings {
  // STEPWISE_GPU: the emulated GPU's id, or a .toml file like those of common/gpus. Empty: h200.
  std::string gpu;
  // STEPWISE_WORKERS: host threads that run the blocks of a launch. 0: one per core. Checks and
  // counters always use one.
  unsigned workers = 0;
  // STEPWISE_TIME_LIMIT_S: a kernel that runs longer fails with cudaErrorLaunchTimeout. 0: no
  // limit.
  double time_limit_s = 0;
  // STEPWISE_PATIENCE_S: the time after which a message on stderr names a kernel that only waits,
  // and after which a launch may leave its kernel running.
  double patience_s = 10;
  // STEPWISE_TENSOR_CORES=0: a kernel that uses tensor cores fails with cudaErrorNotPermitted.
  bool tensor_cores = true;
  // STEPWISE_ADDRESSES: "gpu" places global memory in pages of 2 MiB as a driver does, and kernels
  // may touch all of a page; "apart" leaves room between allocations, as checks do. Empty: each
  // allocation has its own bounds.
  std::string addresses;
  // STEPWISE_COPY_SEED: without checks and counters, a bulk copy takes place some time after it is
  // issued. This seed determines the delays. 0: no delay.
  unsigned copy_seed = 1;
  bool late = false;   // STEPWISE_LATE=1: asynchronous work runs as late as CUDA permits
  bool check = false;  // STEPWISE_CHECK=1: looks for mistakes (common/emulator/check)
  // STEPWISE_SAMPLE: with checks, a seed that draws the few blocks of each large launch that run
  // (common/emulator/block_sample.hpp). 0: all blocks run.
  unsigned sample = 0;
  bool counters = false;  // STEPWISE_COUNTERS=1: counts costs by line (common/emulator/profile)
  // Files to which results are appended as lines of JSON. Empty: text on stderr.
  std::string findings;  // STEPWISE_FINDINGS
  std::string profile;   // STEPWISE_PROFILE
  // STEPWISE_TIMES: with counters, launches are timed (common/emulator/options.hpp). Empty: no.
  std::string times;
  // STEPWISE_EVENT_TIMES: "modelled" makes events follow modelled launches, "emulation" does not.
  // Either is printed when the program ends, unless ",quiet" is appended.
  std::string event_times;
  std::string timeline;        // STEPWISE_TIMELINE: the file for the runtime's calls
  std::string record;          // STEPWISE_RECORD: the file for recorded warps
  std::string record_of;       // STEPWISE_RECORD_OF: the warps to record (common/emulator/record)
  std::string remote_device;   // STEPWISE_REMOTE_DEVICE: descriptors of a device server's channel
  bool suggest_check = false;  // STEPWISE_SUGGEST_CHECK=1: failures suggest `lab exec --check`
  bool quiet = false;          // STEPWISE_QUIET=1: no notes on stderr

  // A value that cannot be read counts as not set.
  static engine_settings from_environment();

  // The changes to an environment that give a program exactly these settings. Each is "NAME=value",
  // or "NAME" alone to remove the variable of a setting that has its default.
  std::vector<std::string> environment() const;

  std::string gpu_or_default() const { return gpu.empty() ? "h200" : gpu; }
};

}  // namespace stepwise
