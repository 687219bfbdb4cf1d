// What was handed in, read into a results folder: one .cu each, perhaps answers, or why not.
//
// idea    Members of a folder or an archive are sorted by their owner; an archive among them is
// read as
//         well, one level deep. A choice that a person would have to explain is none: two files
//         that both might be meant refuse the submission, with their names.
// Tested by tests/intake_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "grader/batch/results.hpp"

namespace stepwise {
struct protections;
}

namespace stepwise::batch {

struct intake_options {
  fs::path source;         // a folder, or a zip or tar
  std::string names = {};  // a pattern (names.hpp); empty: the one that fits
  std::optional<std::int64_t> due = {};
  fs::path times = {};   // a table with lines "id,time"; empty: none
  std::string one = {};  // not empty: all of `source` is the submission of this id
  std::optional<std::int64_t> submitted = {};  // when that was handed in
};

struct intake_tools {
  fs::path script;  // unpack.py
  const protections& guards;
  std::function<void(const std::string&)> doing;
  std::function<void()> tick;
};

struct intake {
  std::size_t submissions = 0, refused = 0;
  batch_info info;  // as it was written
};

// Writes submissions and contents of lab `lab`; existing ones that are not in `source` stay.
// failure(usage) if no file in `source` has an owner.
intake read_submissions(results& into, const intake_options& options, const intake_tools& tools);

}  // namespace stepwise::batch
