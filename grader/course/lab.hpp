// The labs of the course: contract, sizes, goals, steps, and the baselines of the steps.
//
// idea    labs/course reads and checks the course's files and writes build/course.json
//         (meson.build). Programs read only that file. The functions below take the build folder.
// Tested by tests/lab_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/course/goal_counter.hpp"
#include "grader/course/sweeps.hpp"

namespace stepwise {

namespace fs = std::filesystem;

using lab_size = std::vector<std::int64_t>;

struct step {
  std::string name;                     // "03_sequential"
  std::string over;                     // the step it is compared with; empty for the first
  std::optional<double> at_least;       // the required speedup over it, where it was recorded
  std::string idea;                     // one line
  fs::path file;                        // relative to the root
  std::vector<lab_size> promised = {};  // the sizes that at_least holds for; empty: the lab's
  bool unmeasured = false;              // at_least will be set when the step is measured
  bool in_case_study = false;           // not on the lab's path
  // The words for STEPWISE_RECORD_OF, if the course has a recorded warp of this step.
  std::optional<std::string> recording = {};
};

// A baseline for the steps: a program like a step's, made with a library or for the CPU.
struct baseline {
  std::string name;      // "cublas"
  bool is_right = true;  // its result is checked, except for a pure copy
  std::string what;      // one line
  bool on_cpu = false;   // its calls run in host memory and use the host's clock
};

// A part of a step's work as a program of its own, for `lab limits`. Its result is wrong.
struct limit_part {
  std::string step;  // "09_warp_tiles"
  std::string part;  // "memory", "shared", "compute"
  std::string what;  // one line: the remaining work
  fs::path file;     // relative to the root

  std::string program() const { return "limit-" + step + "-" + part; }
};

// A wrong solution that the checker must refuse, of labs/<lab>/tests/mutants.txt.
struct mutant {
  std::string name;
  std::string verdict;  // "WRONG", "CHECK", "CRASH", "TIMEOUT"
  std::string says;     // a part of the message
};

// A lecture's figures for a lab's steps, on a GPU of its time: solutions/<lab>/lectures.toml.
// People write this file. Modelled figures are recorded elsewhere.
struct published_figure {
  std::string version;            // the lecture's name for it
  std::string step;               // the lab's corresponding step
  std::vector<std::string> with;  // constants: "tile=16"; a register cap: "registers=32"
  std::string kernel;             // the kernel that the published time is for; empty: the call
  double value = 0;               // in the lecture's unit
};
inline constexpr const char* unnamed_gpu = "unnamed";
struct lecture {
  std::string gpu;  // a name from common/gpus/, or unnamed_gpu if unstated
  std::string source;
  std::string unit;                       // "ms", "GB/s" or "GFLOP/s"
  lab_size size;                          // the call's size
  bool size_stated = false;               // else our choice: only rates and gains compare
  std::vector<published_figure> figures;  // the first is the base of all gains
};

// A condition that earns points. grader/GOALS.md explains how each kind is judged.
struct goal {
  // In the order of judging.
  enum class kind {
    correct,  // the results
    checks,   // the findings of the emulator's checks
    counter,  // a figure counted on the emulator
    speedup,  // speedup over a solution step
    reach     // a fraction of a solution step's speed
  };
  std::string name;
  double points = 0;
  kind what = kind::correct;
  std::string over;                       // speedup, reach: the step to compare with
  double limit = 0;                       // speedup: the ratio; reach: the fraction; counter
  const goal_counter* counter = nullptr;  // counter
  bound side = bound::at_least;           // counter: the side of the limit
  lab_size size = {};                     // counter
  // counter: the least bytes of shared memory accesses per byte that the problem moves.
  double least_shared = 0;
  // counter: the most active lanes that count, per byte that the problem moves. Further lanes could
  // be filler, which makes the share of active lanes meaningless. 0: all lanes count.
  double most_active = 0;
  std::string needs = {};  // counter: another goal that must be met first
  // speedup, reach: the required ratio of modelled times without a GPU. 0: not judged there.
  double modelled = 0;
  std::string hint = {};  // the title of a topic in hints.md; may be empty

  bool is_speed() const { return what == kind::speedup || what == kind::reach; }
};
std::string_view name_of(goal::kind k);  // "correct", as in lab.toml

struct lab {
  std::string name, title, function;
  std::int64_t order = 0;
  std::string contract;            // the header's name in the lab's folder
  std::string skeleton;            // the step that the student's file starts from
  double time_limit_s = 10;        // per call at a check size
  double timing_s = 20;            // for timing against steps, unless it is decided earlier
  std::uint64_t host_bytes = 0;    // bytes a judged call may copy to the host beyond host outputs
  std::string own_input;           // input of the user's own: "image", "points" or empty
  std::vector<lab_size> check;     // correctness
  std::vector<lab_size> bench;     // figures on a GPU, ascending
  std::vector<lab_size> emulated;  // figures counted on the emulator, ascending
  std::vector<lab_size> modelled;  // times by the model, ascending: large enough to fill a GPU
  std::vector<lab_size> hidden;    // empty, or the smallest and the largest hidden size
  std::vector<lab_size> ragged;    // likewise, for `bench --ragged`
  std::vector<lab_size>
      drawn_large;           // drawn by a judged grade, up to the timed size: see large_checks.hpp
  bool tensor_cores = true;  // the contract allows them
  int least_capability = 0;  // the compute capability that all kernels need: 80 for 8.0
  // Steps that need compute capability 9.0 and its own instructions (wgmma, TMA). If there are any,
  // all files of the lab are compiled for sm_90a where others are compiled for sm_90.
  std::vector<std::string> hopper;
  // Whether a submission that is a step with other names earns its points.
  bool published_steps_earn = true;
  // Whether a submission that launches kernels of CUB or Thrust earns its points.
  bool library_kernels_earn = true;
  std::int64_t size_unit = 1;      // drawn sizes are multiples of it, as the contract requires
  std::vector<lab_size> promised;  // sizes of promises in steps.txt that name none
  std::vector<goal> goals;         // by kind, in the order of judging
  std::vector<step> steps;
  std::vector<std::string> did_not_help;  // the last steps of the list, also in the case study
  std::vector<baseline> baselines;
  std::vector<limit_part> parts;  // by step
  std::vector<mutant> mutants;
  std::vector<lecture> lectures;
  declared_sweeps sweeps;
  fs::path file;          // the student's, relative to the root
  bool is_worked = true;  // false: the steps' files are a student copy's skeletons

  // Whether students hand in a whole program, whose main reads and writes files.
  bool is_program() const { return function == "main"; }

  // Whether a GPU of this compute capability (80 for 8.0) can run a step or, without a name, at
  // least some steps.
  bool runs_on(int capability, std::string_view step_name = {}) const {
    const bool needs_hopper = std::ranges::find(hopper, step_name) != hopper.end();
    return needs_hopper ? capability == 90 : capability >= least_capability;
  }
  fs::path handout() const { return file.parent_path() / "README.md"; }  // the core
  fs::path deeper() const { return file.parent_path() / "deeper.md"; }   // beyond the core
  fs::path answers() const { return file.parent_path() / "answers.md"; }
  fs::path hints() const { return file.parent_path() / "hints.md"; }
  // Explains the solutions' design. Not every lab has one.
  fs::path design() const { return fs::path("solutions") / name / "DESIGN.md"; }
  // Tables beyond those of deeper.md: energy, and random sizes.
  fs::path results() const { return fs::path("solutions") / name / "results.md"; }
  fs::path given() const { return file.parent_path() / "given"; }  // in a student copy
  fs::path experiment_file(const std::string& experiment_name) const {
    return (is_worked ? fs::path("solutions") / name : given()) / "experiments" /
           (experiment_name + ".cu");
  }

  double points() const;
  bool has(goal::kind k) const;
  // Whether no step of this name is among those that did not help.
  bool may_help(std::string_view step_name) const;
  // The lab's best result: the last step that may help.
  const step& last_step() const;
};

// The names of all labs, sorted. Empty without build/course.json.
std::vector<std::string> lab_names(const fs::path& build);

// One lab. Throws failure(usage), which suggests the nearest lab, if the name is unknown.
lab load_lab(const fs::path& build, const std::string& name);

// A lab's questions and explanations: its handout, then deeper.md. nullopt without a handout.
std::optional<std::string> whole_handout(const fs::path& root, const lab& l);

// All labs by order, then name.
std::vector<lab> load_labs(const fs::path& build);

// A step by its name, its number ("03") or the name after the number. Throws failure(usage), which
// suggests the nearest step and lists all of them.
const step& find_step(const lab& l, std::string_view name);

// The lab without the steps of its case study. A step that was over such a step is over the nearest
// earlier step of the path.
lab path_of(lab l);

// The number of insertions, deletions, replacements and swaps of neighbours between two texts.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The most probable candidate: a unique candidate that contains the text, or the one with the
// smallest edit distance, if that distance is at most a third of its length. Empty if there is
// none.
std::string nearest(std::string_view given, const std::vector<std::string>& candidates);

// A size for messages: "1023" or "512x256". Labels like "n = 1 000 000" come from the problem.
std::string size_text(const lab_size& size);
// "n = 1" of "n = 1, seed 7", a call's label. The seed is the same for all calls of a command.
std::string without_seed(std::string_view label);

}  // namespace stepwise
