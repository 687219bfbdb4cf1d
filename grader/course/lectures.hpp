// What lectures publish of a lab's steps, on GPUs of their time: solutions/<lab>/lectures.toml.
//
// idea    Data with its source, apart from what the model says of it: only people write this file.
// Tested by tests/lectures_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/course/lab.hpp"

namespace stepwise {

struct published_figure {
  std::string version;            // as the lecture calls it
  std::string step;               // of the lab, that does the same
  std::vector<std::string> with;  // other values of its constants: "tile=16"; "registers=32": a cap
  std::string kernel;             // the published time is its alone; empty: of the whole call
  double value = 0;               // in the lecture's unit
  int line = 0;                   // of the file
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

// Empty if the lab has no such file; failure(ours) names file and line.
std::vector<lecture> load_lectures(const fs::path& root, const lab& l);

}  // namespace stepwise
