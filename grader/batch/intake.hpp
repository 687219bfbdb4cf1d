// Reads submissions into a results folder: one .cu each, possibly answers, or a refusal.
//
// idea    Members of a folder or an archive are sorted by owner. An archive inside is read as well,
//         but only one level deep. No choice is made that a person would have to justify. If two
//         files could be meant, the submission is refused, and the message has their names.
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
  std::string names = {};  // a pattern (names.hpp); empty: the best fit
  std::optional<std::int64_t> due = {};
  fs::path times = {};   // a table with lines "id,time"; empty: none
  std::string one = {};  // if not empty, all of `source` is this id's submission
  std::optional<std::int64_t> submitted = {};  // the time of that submission
};

struct intake_tools {
  fs::path script;  // unpack.py
  const protections& guards;
  std::function<void(const std::string&)> doing;
  std::function<void()> tick;
};

struct intake {
  std::size_t submissions = 0, refused = 0;
  batch_info info;  // as written
};

// Writes submissions and contents for the lab. Existing submissions that are not in `source` stay.
// Throws failure(usage) if no file in `source` has an owner.
intake read_submissions(results& into, const intake_options& options, const intake_tools& tools);

}  // namespace stepwise::batch
