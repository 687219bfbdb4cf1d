// One file in many configurations: compiled, checked, counted, and timed where there is a GPU
// (without one by the time model: model/sweep_times.hpp).
//
// idea    What is compiled, checked and counted has nothing to do with time, so it is done for
//         several configurations at once. Time is measured afterwards, programs taking turns. Only
//         what is right is timed.
// watch   Registers, shared memory and occupancy are those of the emulator's call: of the machine
//         code for its GPU, whichever GPU the times are of.
// Tested by tests/sweep_test.cpp, and through the program by cli/tests/sweep_cli_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/report/profile.hpp"
#include "grader/course/constants.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/sweep_axis.hpp"
#include "grader/judge/check.hpp"
#include "grader/judge/installation.hpp"
#include "grader/measure/alternate.hpp"

namespace stepwise {

// What --over names: a constant of the file, the size of the call, or the compiler's register cap.
enum class axis_kind { constant, size, registers };
inline constexpr const char* no_register_cap = "none";  // a value of such an axis
std::string_view name_of(axis_kind k);                  // "constant", ...

struct swept_axis {
  sweep_axis axis;
  axis_kind kind = axis_kind::constant;
};

// A file to sweep.
struct sweep_subject {
  fs::path file;
  std::string shown;  // as messages name it
  std::string source;
  std::vector<source_constant> constants;
};

// `size` and `registers` are words of the sweep, and `n` where sizes are one number. failure(usage)
// if the file has a constant of that name, too, or if it has none of any other name, or for a value
// that is none.
swept_axis classify(const sweep_axis& axis, const sweep_subject& subject, const lab& l,
                    const problem& p);

struct sweep_point {
  std::vector<std::string> values;  // of the axes, in their order
  lab_size size;                    // of the call that is timed
  std::string label;                // "n = 1048576"; empty until it is counted or timed
  problem_work work;                // of that call
  // Of compiling, checking, counting and timing the first that is not ok.
  call_outcome found;
  bool refused = false;  // a crash: no such launch is possible
  fs::path program;
  // Of one call on the emulator, without lines; empty if it was not counted.
  lab_size counted_size;
  problem_work counted_work;
  std::vector<kernel_profile> kernels;
  device_transfers transfers;
  sample_summary time;                // cold L2; no samples: not measured
  double modelled_ms = 0;             // of the same call, by the time model; 0: not modelled
  std::uint64_t modelled_blocks = 0;  // of its grid
  std::string why_no_time;            // of a point that is right, where the model has none
  std::optional<double> recorded_ms;  // by the course, of that step at that size

  bool measured() const { return time.samples > 0; }
  bool timed() const { return measured() || modelled_ms > 0; }
  double time_ms() const { return measured() ? time.median_ms : modelled_ms; }
  // Of a modelled time, the time itself.
  interval range_ms() const {
    return measured() ? time.range_ms : interval{modelled_ms, modelled_ms};
  }
  // Of the main kernel's grid in the call that is timed; nothing if it is not known.
  std::optional<std::uint64_t> blocks() const;
  // The kernel that executes most instructions; null if nothing was counted.
  const kernel_profile* main_kernel() const;
};

struct sweep_run {
  const lab& l;
  const problem& p;
  const installation& where;
  device_choice device;    // the GPU to be timed, or the emulator
  device_choice emulator;  // that counts
  std::uint64_t seed = 7;
};

// One point for each combination of the axes' values; `size` where no axis sets it.
std::vector<sweep_point> plan_sweep(const lab& l, const problem& p,
                                    const std::vector<swept_axis>& axes, const lab_size& size);

// Compiles, checks and counts all points, several at once; points that differ only in size share a
// program. What is wrong with a point is its outcome. failure(environment) if nothing can be
// compiled.
void prepare_points(const sweep_run& run, const sweep_subject& subject,
                    const std::vector<swept_axis>& axes, std::vector<sweep_point>& points,
                    const activity& now);

// Times those that are right, with a cold L2 cache: groups of programs take turns, forwards and
// backwards, at each size.
void time_points(const sweep_run& run, std::vector<sweep_point>& points, const activity& now);

// Whether a crash is that of a launch which CUDA refused: too many threads, registers or bytes of
// shared memory for a block. `source` is the file whose line the message names.
bool is_refused_launch(const call_outcome& found, std::string_view source);

// "threads = 256, items = 4"
std::string text_of(const std::vector<swept_axis>& axes, const std::vector<std::string>& values);

}  // namespace stepwise
