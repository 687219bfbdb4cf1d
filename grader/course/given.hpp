// The files that a student copy has instead of solutions/<lab>, in labs/<lab>/given/.
//
//   steps.txt    the steps' names and ideas, as in solutions/<lab>, without promises
//   NAME.cu      the skeletons that `lab start` offers
//   times.json   modelled times of the steps that goals name, for grades
//
// idea    A lab is read in the same way with either folder (lab.hpp). `is_worked` is true if its
//         steps are solutions. Code that needs a solution calls worked_step(), which throws if
//         there is none.
// Tested by tests/given_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/course/lab.hpp"

namespace stepwise {

// Like find_step(). Throws failure(usage) in a student copy, which has no worked steps.
const step& worked_step(const lab& l, std::string_view name);

// Throws failure(usage) in a student copy: "`lab dev bench` needs the worked steps, ...".
void need_solutions(const lab& l, std::string_view who);
// Throws the same failure, without a lab, if the clone has no folder solutions/.
void need_solutions(const fs::path& root, std::string_view who);

// The skeleton of a step. nullopt if its file is missing.
std::optional<std::string> skeleton_text(const fs::path& root, const lab& l, const step& s);

// Modelled times of one call with cold caches, in ms.
struct given_times {
  std::string gpu;  // "NVIDIA H200"
  lab_size size;
  std::uint64_t seed = 0;
  std::map<std::string, double> ms;                   // by step
  std::map<std::string, std::string> skeletons = {};  // hash of each skeleton's text, by step

  // nullopt unless all arguments match.
  std::optional<double> find(const std::string& step_name, std::string_view on_gpu,
                             const lab_size& at, std::uint64_t with_seed) const;
};
// labs/<lab>/given/times.json. Empty if it is missing. Throws failure(ours) if it is malformed.
given_times load_given_times(const fs::path& root, const lab& l);
std::string text_of(const given_times& times);

// The skeletons in labs/<lab>/given that have changed since the copy was made. A student may have
// edited a skeleton by mistake.
std::vector<fs::path> edited_skeletons(const fs::path& root, const lab& l);

// The names and release days of the labs that a student copy lacks. `lab release` writes them.
std::vector<std::pair<std::string, std::string>> coming_labs(const fs::path& build);

}  // namespace stepwise
