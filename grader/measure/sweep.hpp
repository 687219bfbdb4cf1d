// One file in many configurations: compiled, checked, counted and timed, on a GPU or by the time
// model (model/sweep_times.hpp).
//
// idea    Compiling, checking and counting do not affect times, so several configurations are
//         prepared at once. Times are measured afterwards, alternating between programs. Only
//         correct configurations are timed.
// watch   Registers, shared memory and occupancy are those of the emulator's call, for the machine
//         code of its GPU, no matter which GPU the times belong to.
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

// The target of --over: a constant of the file, the call's size, or the compiler's register cap.
enum class axis_kind { constant, size, registers };
inline constexpr const char* no_register_cap = "none";  // a value of a `registers` axis
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

// `size` and `registers` are reserved names, and so is `n` if sizes are one number. Throws
// failure(usage) if the file has a constant with such a name, lacks a constant with another name,
// or a value is invalid.
swept_axis classify(const sweep_axis& axis, const sweep_subject& subject, const lab& l,
                    const problem& p);

struct sweep_point {
  std::vector<std::string> values;  // per axis, in order
  lab_size size;                    // of the timed call
  std::string label;                // "n = 1048576"; empty until it is counted or timed
  problem_work work;                // of the timed call
  // The first failure while compiling, checking, counting or timing.
  call_outcome found;
  bool refused = false;  // a crash: no such launch is possible
  fs::path program;
  // One call on the emulator, without lines. Empty if it was not counted.
  lab_size counted_size;
  problem_work counted_work;
  std::vector<kernel_profile> kernels;
  device_transfers transfers;
  sample_summary time;                // cold L2; no samples: not measured
  double modelled_ms = 0;             // the same call by the time model; 0: not modelled
  std::uint64_t modelled_blocks = 0;  // blocks of its grid
  std::string why_no_time;            // if the point is right but the model has no time
  std::optional<double> recorded_ms;  // the course's time of that step at that size

  bool measured() const { return time.samples > 0; }
  bool timed() const { return measured() || modelled_ms > 0; }
  double time_ms() const { return measured() ? time.median_ms : modelled_ms; }
  // For a modelled time, both ends are the time itself.
  interval range_ms() const {
    return measured() ? time.range_ms : interval{modelled_ms, modelled_ms};
  }
  // The number of blocks in the main kernel's grid in the timed call. Empty if unknown.
  std::optional<std::uint64_t> blocks() const;
  // The kernel that executes the most instructions. Null if nothing was counted.
  const kernel_profile* main_kernel() const;
};

struct sweep_run {
  const lab& l;
  const problem& p;
  const installation& where;
  device_choice device;    // the GPU to time, or the emulator
  device_choice emulator;  // counts
  std::uint64_t seed = 7;
};

// One point per combination of the axes' values. `size` is used if no axis sets it.
std::vector<sweep_point> plan_sweep(const lab& l, const problem& p,
                                    const std::vector<swept_axis>& axes, const lab_size& size);

// Compiles, checks and counts all points, several at once. Points that differ only in size share a
// program. An error becomes the outcome of its point. Throws failure(environment) if nothing can be
// compiled.
void prepare_points(const sweep_run& run, const sweep_subject& subject,
                    const std::vector<swept_axis>& axes, std::vector<sweep_point>& points,
                    const activity& now);

// Times the correct points with a cold L2 cache. At each size, groups of programs run alternately,
// forwards and backwards.
void time_points(const sweep_run& run, std::vector<sweep_point>& points, const activity& now);

// Whether a crash is a launch that CUDA refused, because of too many threads, registers or bytes of
// shared memory per block. `source` is the file whose line the message names.
bool is_refused_launch(const call_outcome& found, std::string_view source);

// "threads = 256, items = 4"
std::string text_of(const std::vector<swept_axis>& axes, const std::vector<std::string>& values);

}  // namespace stepwise
