// The time that a call would take on a GPU, by the emulator's time model.
//
// idea    The call is made on the emulator, with a profile and times. Large launches are sampled,
//         so what they compute means nothing: whether a program is right is asked at other sizes.
//         A call's time is that of its kernels, copies and fills on the device; where its arrays
//         are the host's, it is what the runner's events report, whose clock knows copies, too
//         (common/timeline).
// watch   A model: what it says is labelled so, with how far off it was where it could be compared
//         (`lab dev validate --times`).
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
  call_outcome found;  // of the call; there is no time unless it is ok
  lab_size size;
  std::string label;  // "n = 16777216, seed 7"
  std::string gpu;    // that is emulated: "NVIDIA H200"
  problem_work work;
  double time_ms = 0;
  double input_bytes = 0, peak_bytes_per_s = 0;  // of the call; of that GPU's memory, on paper
  bool with_copies = false;  // the time is the whole call's, with its copies to and from the host
  std::vector<kernel_profile> kernels;
  device_transfers transfers;  // copies and fills on the device; their time is in the call's

  bool timed() const { return found.ok() && time_ms > 0; }
  // The time below which a call cannot be honest: its inputs must come from memory once.
  double floor_ms() const {
    return peak_bytes_per_s > 0 ? 1e3 * input_bytes / peak_bytes_per_s : 0;
  }
  std::string why_no_time() const;  // empty: there is one
  std::string rate() const;
};

// How far off the model was for a lab's steps, in shares of what a GPU measured:
// solutions/LAB/measured/GPU.modelled.jsonl, which `lab dev validate LAB --times --record` writes.
struct model_error {
  std::size_t times = 0;  // that were compared
  double median = 0, worst_tenth = 0;
};
// Nothing if they were never compared.
std::optional<model_error> load_model_error(const std::filesystem::path& root, const lab& l,
                                            std::string_view device_name);

enum class what_ifs { left_out, modelled };
// Sampled: of a large launch, only as many blocks run as its time needs. Whole: all of them.
enum class launches_are { sampled, whole };

// `blocks_seed` chooses the blocks that the time of a whole launch is made from; 0: the usual ones.
// `emulator` must be the emulator. A call that takes longer than `patience_s` has no time. Outputs
// can be compared where launches are whole.
modelled_figures model_program(const lab& l, const problem& p, const std::filesystem::path& program,
                               const lab_size& size, std::uint64_t seed,
                               const device_choice& emulator, const activity& now,
                               double patience_s = 60, what_ifs experiments = what_ifs::left_out,
                               launches_are launches = launches_are::sampled,
                               outputs_are outputs = outputs_are::ignored,
                               std::uint64_t blocks_seed = 0);

}  // namespace stepwise
