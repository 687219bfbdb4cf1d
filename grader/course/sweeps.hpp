// The sweeps and experiments that a lab declares in its lab.toml; labs/course reads them.
//
//   [sweep]                     the default for `./lab sweep LAB`
//   step = "03_ilp"
//   over = ["threads=32..1024", "items=1,2,4,8"]
//   counter = "occupancy_percent"                     the main figure; optional
//
//   [[experiments]]             `./lab sweep LAB divergence`
//   name = "divergence"         its program is solutions/LAB/experiments/divergence.cu
//   title = "one warp, several ways"                  optional
//   over = ["ways=1..32"]
//   counter = "warp_execution_efficiency_percent"     from grader/GOALS.md; optional
//   given = false               its program reveals a step, so student copies lack it
//
// Tested by tests/lab_test.cpp.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/course/goal_counter.hpp"

namespace stepwise {

struct sweep_plan {
  std::string step;
  std::vector<std::string> over;          // as typed after --over
  const goal_counter* counter = nullptr;  // null: the sweep's own choice
};

struct experiment {
  std::string name;
  std::string title;
  std::vector<std::string> over;
  const goal_counter* counter = nullptr;  // null: the sweep's own choice
  bool is_given = true;                   // a student copy has its program; else it reveals a step
};

struct declared_sweeps {
  std::optional<sweep_plan> standard;
  std::vector<experiment> experiments;

  // Null if there is none.
  const experiment* find(std::string_view name) const {
    const auto found = std::ranges::find(experiments, name, &experiment::name);
    return found == experiments.end() ? nullptr : &*found;
  }
};

}  // namespace stepwise
