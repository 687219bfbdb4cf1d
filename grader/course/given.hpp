// What a student copy holds of a lab's steps in place of solutions/<lab>: labs/<lab>/given/.
//
//   steps.txt    the steps' names and ideas, as in solutions/<lab>; nothing is promised
//   NAME.cu      the skeletons that can be started from, as `lab start` makes them
//   times.json   modelled times of the steps that goals name: what grades compare with
//
// idea    A lab is read the same way in both (lab.hpp): its `is_worked` says whether a step's file
//         is the worked one. Code that needs it calls worked_step(), which refuses otherwise.
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

// As find_step(); failure(usage) in a student copy, which has no worked steps.
const step& worked_step(const lab& l, std::string_view name);

// failure(usage) in a student copy: "`lab dev bench` needs the worked steps, ...".
void need_solutions(const lab& l, std::string_view who);
// The same without a lab: where the clone has no folder solutions/.
void need_solutions(const fs::path& root, std::string_view who);

// The skeleton of a step; none where its file is not there.
std::optional<std::string> skeleton_text(const fs::path& root, const lab& l, const step& s);

// Modelled times of one call with cold caches, in ms.
struct given_times {
  std::string gpu;  // "NVIDIA H200"
  lab_size size;
  std::uint64_t seed = 0;
  std::map<std::string, double> ms;  // by step

  // Nothing unless all of it is the same.
  std::optional<double> find(const std::string& step_name, std::string_view on_gpu,
                             const lab_size& at, std::uint64_t with_seed) const;
};
// labs/<lab>/given/times.json; empty if it is not there. failure(ours) if it is malformed.
given_times load_given_times(const fs::path& root, const lab& l);
std::string text_of(const given_times& times);

// The labs that are not in a student copy yet: name, day. `lab release` names them.
std::vector<std::pair<std::string, std::string>> coming_labs(const fs::path& build);

}  // namespace stepwise
