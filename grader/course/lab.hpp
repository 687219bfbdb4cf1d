// The labs of the course: contract, sizes, goals, steps, and what the steps are measured against.
//
// idea    labs/course reads and checks the course's files and writes build/course.json
// (meson.build).
//         Programs read that file alone. The functions below take the build folder.
// Tested by tests/lab_test.cpp.
#pragma once

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
  std::optional<double> at_least;       // the speedup over it that must hold where it was recorded
  std::string idea;                     // one line
  fs::path file;                        // relative to the root
  std::vector<lab_size> promised = {};  // the sizes that at_least holds for; none: the lab's
  bool unmeasured = false;              // at_least will be stated when the step was measured
  // The words for STEPWISE_RECORD_OF, if the course has a recorded warp of this step.
  std::optional<std::string> recording = {};
};

// What the steps are measured against: a program like a step's, made of a library, or the same on
// the CPU.
struct peer {
  std::string name;      // "cublas"
  bool is_right = true;  // its result is checked; a yardstick's (a copy, say) is not
  std::string what;      // one line
  bool on_cpu = false;   // its calls are made in host memory, and timed by the host's clock
};

// A part of a step's work, as a program that does nothing else: a yardstick for `lab limits`, whose
// result is wrong.
struct limit_part {
  std::string step;  // "09_warp_tiles"
  std::string part;  // "memory", "shared", "compute"
  std::string what;  // one line: what is left
  fs::path file;     // relative to the root

  std::string program() const { return "limit-" + step + "-" + part; }
};

// A wrong solution, which the checker must refuse: labs/<lab>/tests/mutants/NAME.cu.
struct mutant {
  std::string name;
  std::string verdict;  // "WRONG", "CHECK", "CRASH", "TIMEOUT"
  std::string says;     // a part of the message
};

// What a lecture publishes of a lab's steps, on a GPU of its time: solutions/<lab>/lectures.toml.
// Only people write that file; what the model says of it is recorded elsewhere.
struct published_figure {
  std::string version;            // as the lecture calls it
  std::string step;               // of the lab, that does the same
  std::vector<std::string> with;  // other values of its constants: "tile=16"; "registers=32": a cap
  std::string kernel;             // the published time is its alone; empty: of the whole call
  double value = 0;               // in the lecture's unit
};
inline constexpr const char* unnamed_gpu = "unnamed";
struct lecture {
  std::string gpu;  // a name from common/gpus/, or unnamed_gpu: the lecture does not say
  std::string source;
  std::string unit;        // "ms", "GB/s" or "GFLOP/s"
  lab_size size;           // of the call
  bool size_told = false;  // else it is ours: times cannot be compared, rates and gains can
  std::vector<published_figure> figures;  // the first is what gains are over
};

// What earns points; grader/GOALS.md says how each kind is judged.
struct goal {
  // In the order in which they are judged.
  enum class kind {
    correct,  // the results
    checks,   // what the emulator's checks find
    counter,  // a figure counted on the emulator
    speedup,  // times as fast as a solution step
    reach     // a share of a solution step's speed
  };
  std::string name;
  double points = 0;
  kind what = kind::correct;
  std::string over;                       // speedup, reach: the step it is measured against
  double limit = 0;                       // speedup: the ratio; reach: the share; counter
  const goal_counter* counter = nullptr;  // counter
  bound side = bound::at_least;           // counter: of the limit
  lab_size size = {};                     // counter
  // counter: bytes that accesses to shared memory must have, over those that the problem moves.
  double least_shared = 0;
  std::string needs = {};  // counter: the name of another goal without which this one is not met
  // speedup, reach: what the ratio of modelled times must be where there is no GPU; 0: not judged
  // there.
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
  double time_limit_s = 10;        // of one call at a check size
  double timing_s = 20;            // that timing against steps takes, if it is not decided before
  std::uint64_t host_bytes = 0;    // that a judged call may copy to the host, beside host outputs
  std::string own_input;           // what a student can bring: "image", "points" or nothing
  std::vector<lab_size> check;     // correctness
  std::vector<lab_size> bench;     // figures on a GPU, ascending
  std::vector<lab_size> emulated;  // figures counted on the emulator, ascending
  std::vector<lab_size> modelled;  // times by the model, ascending: large enough to fill a GPU
  std::vector<lab_size> hidden;    // none, or the smallest and the largest that are drawn
  std::vector<lab_size> ragged;    // the same, of the sizes that `bench --ragged` draws
  std::vector<lab_size>
      drawn_large;           // by a judged grade, up to the timed size: see large_checks.hpp
  bool tensor_cores = true;  // that the contract allows
  // A submission that is one of the steps, under other names, earns its points.
  bool published_steps_earn = true;
  // A submission that launches kernels of CUB or Thrust earns its points.
  bool library_kernels_earn = true;
  std::vector<lab_size> promised;  // what steps.txt promises holds for, unless a line says else
  std::vector<goal> goals;         // by kind, in the order in which they are judged
  std::vector<step> steps;
  std::vector<peer> peers;
  std::vector<limit_part> parts;  // by step
  std::vector<mutant> mutants;
  std::vector<lecture> lectures;
  declared_sweeps sweeps;
  fs::path file;          // the student's, relative to the root
  bool is_worked = true;  // the steps' files are solutions; in a student copy they are skeletons

  fs::path handout() const { return file.parent_path() / "README.md"; }  // the core
  fs::path deeper() const { return file.parent_path() / "deeper.md"; }   // what goes beyond it
  fs::path answers() const { return file.parent_path() / "answers.md"; }
  fs::path hints() const { return file.parent_path() / "hints.md"; }
  // Why the solutions are as they are; not every lab has one.
  fs::path design() const { return fs::path("solutions") / name / "DESIGN.md"; }
  fs::path given() const { return file.parent_path() / "given"; }  // of a student copy
  fs::path experiment_file(const std::string& experiment_name) const {
    return (is_worked ? fs::path("solutions") / name : given()) / "experiments" /
           (experiment_name + ".cu");
  }

  double points() const;
  bool has(goal::kind k) const;  // a goal of that kind
};

// Of all labs, sorted; none without build/course.json.
std::vector<std::string> lab_names(const fs::path& build);

// One lab. failure(usage) names the nearest lab if there is none of that name.
lab load_lab(const fs::path& build, const std::string& name);

// What a lab asks and explains: its handout, then deeper.md. Nothing without a handout.
std::optional<std::string> whole_handout(const fs::path& root, const lab& l);

// All labs by order, then name.
std::vector<lab> load_labs(const fs::path& build);

// By its name, its number ("03") or the name after the number. failure(usage) names the nearest
// step and all of them.
const step& find_step(const lab& l, std::string_view name);

// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that is most likely meant: a unique prefix or the smallest edit distance, if that
// is at most a third of its length. Empty if none.
std::string nearest(std::string_view given, const std::vector<std::string>& candidates);

// "n = 1 000 000"-like text is the problem's; this one is for messages: "1023" or "512x256".
std::string size_text(const lab_size& size);

}  // namespace stepwise
