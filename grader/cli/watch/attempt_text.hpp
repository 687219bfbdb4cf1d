// The answer to a save: one screen, or all lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/cli/watch/attempt.hpp"

namespace stepwise::cli {

// The attempts that an answer is compared with.
struct earlier_attempts {
  std::optional<attempt> last;        // the previous attempt
  std::optional<attempt> last_timed;  // the last attempt with a time
};

verdict class_of(const attempt& a);

struct answer_place {
  const lab& of;
  const terminal_style& style;
  fs::path root;
  std::string shown;      // the file, as a person at the root types it
  std::string title;      // "14:02:11, save 3"
  std::size_t rows = 24;  // one of them stays free
};

std::vector<std::string> answer_lines(const attempt& a, const earlier_attempts& before,
                                      const answer_place& at);

// Keys for class, finding, time and its change, changed counters, limiter and goals; see JSON.md.
json answer_json(const attempt& a, const earlier_attempts& before, const answer_place& at);

}  // namespace stepwise::cli
