// A finding whose places in the host's code are lines, and the JSON in which it travels from the
// checked program to the one that shows it: one object per line, so that a program that dies has
// still written what it found, and several processes may write to one file.
//
// watch   A line may add to an earlier one: equal findings are merged, their counts added.
// tests   tests/finding_test.cpp; the keys are documented in grader/JSON.md
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/report/finding.hpp"

namespace stepwise {

// A line of host code. `file` is empty where the program was built without line tables; `function`
// may be known then.
struct host_place {
  std::string file;
  int line = 0;
  std::string text;      // of that line, trimmed
  std::string function;  // readable, without parameters

  bool known() const { return !file.empty() || !function.empty(); }
};

struct located_finding {
  finding what;
  host_place host;       // the call that led to it
  host_place allocated;  // of its object
  host_place freed;
  host_place unfinished;  // the launch or copy that the host did not wait for
};

// Without line breaks.
std::string json_line(const located_finding& found);

// nullopt if the line is no finding (torn, or not ours).
std::optional<located_finding> parse_json_line(std::string_view line);

// Equal for findings that are one mistake: the same kind, kernel, lines and memory.
std::string identity_of(const located_finding& found);

// What became of a finding among others: `at` which place it is, and how.
struct merged {
  std::size_t at;
  enum class as : std::uint8_t {
    fresh,     // not known before
    repeated,  // it is counted there
    decisive   // the same, and it is shown from now on: it asks for more than the one before did
  } how;
};
merged merge_into(std::vector<located_finding>& all, located_finding found);

// Worth a look, but the results may still be right.
inline bool is_warning(finding_kind kind) {
  return kind == finding_kind::leak || kind == finding_kind::unchecked_error ||
         kind == finding_kind::wrong_copy_kind || kind == finding_kind::not_followed;
}

// Line `number` (from 1) of a file, without the blanks around it; empty if it cannot be read.
std::string source_line(const std::string& file, int number);

}  // namespace stepwise
