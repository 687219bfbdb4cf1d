// The time that a call would take on a GPU, by the emulator's time model.
//
// idea    The call is made on the emulator, with a profile and times. Large launches are sampled,
//         so their results mean nothing, and correctness is checked at other sizes. A call's time
//         is that of its kernels, copies and fills on the device. If the call's arrays are in host
//         memory, it is the time between the runner's events, whose clock includes copies
//         (common/timeline).
// watch   Modelled times are labelled as such, with the model's error where the model could be
//         compared (`lab dev validate --times`).
// Tested by cli/tests/times_cli_test.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/lab/problem.hpp"
#include "common/report/profile.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/check.hpp"
#include "grader/measure/profiled.hpp"

namespace stepwise {

struct modelled_figures {
  call_outcome found;  // the call; there is no time unless it is ok
  lab_size size;
  std::string label;  // "n = 16777216, seed 7"
  std::string gpu;    // the emulated GPU: "NVIDIA H200"
  problem_work work;
  double time_ms = 0;
  double input_bytes = 0, peak_bytes_per_s = 0;  // the call's; the GPU memory's theoretical peak
  bool with_copies = false;                      // the time includes copies to and from the host
  std::vector<kernel_profile> kernels;
  device_transfers transfers;  // copies and fills on the device; `time_ms` includes them

  bool timed() const { return found.ok() && time_ms > 0; }
  // The lower bound for an honest call, which must read its inputs from memory once.
  double floor_ms() const {
    return peak_bytes_per_s > 0 ? 1e3 * input_bytes / peak_bytes_per_s : 0;
  }
  std::string doubt;                // the reason that drop_doubtful_time() found
  std::string why_no_time() const;  // empty if there is a time
  // The sectors that the call moves, divided by the bytes that it must move. Unknown if the model
  // has no traffic for a kernel.
  std::optional<double> moved_over_needed() const;
  // Removes a time that a whole correct call cannot have. A call that omits work keeps its time
  // where that is wanted: a part of a kernel, or a submission that a grade may hold.
  void drop_doubtful_time();
  std::string rate() const;
};

// The model's relative error for a lab's steps, compared with a GPU:
// solutions/LAB/measured/GPU.modelled.jsonl, which `lab dev validate LAB --times --record` writes.
struct model_error {
  std::size_t times = 0;  // number of compared times
  double median = 0, worst_tenth = 0;
};
// nullopt if the two were never compared.
std::optional<model_error> load_model_error(const std::filesystem::path& root, const lab& l,
                                            std::string_view device_name);

enum class what_ifs { left_out, modelled };
// Sampled: a large launch runs only as many blocks as are needed for its time. Whole: a launch runs
// all blocks.
enum class launches_are { sampled, whole };

// `blocks_seed` chooses the blocks that determine the time of a whole launch; 0: the usual blocks.
// `emulator` must be the emulator. A call that exceeds `patience_s` has no time. Outputs can be
// compared only if launches are whole.
modelled_figures model_program(const lab& l, const problem& p, const std::filesystem::path& program,
                               const lab_size& size, std::uint64_t seed,
                               const device_choice& emulator, const activity& now,
                               double patience_s = 60, what_ifs experiments = what_ifs::left_out,
                               launches_are launches = launches_are::sampled,
                               outputs_are outputs = outputs_are::ignored,
                               std::uint64_t blocks_seed = 0);

}  // namespace stepwise
