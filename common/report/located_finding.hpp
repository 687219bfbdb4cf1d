// A finding with source lines in host code, and its JSON. The checked program writes the JSON for
// the program that shows the finding. There is one object per line, so findings survive if the
// program dies, and several processes may write to one file.
//
// watch   A line may repeat an earlier finding. Equal findings are merged, and their counts are
//         added.
// tests   tests/finding_test.cpp; the keys are documented in grader/JSON.md
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/report/finding.hpp"

namespace stepwise {

// A line of host code. If the program has no line tables, `file` is empty but `function` may be
// known.
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
  host_place allocated;  // allocation and release of the object
  host_place freed;
  host_place unfinished;  // the launch or copy that the host did not wait for
};

// The finding as JSON, without line breaks.
std::string json_line(const located_finding& found);

// nullopt if the line is not a finding (truncated, or from another program).
std::optional<located_finding> parse_json_line(std::string_view line);

// The same string for findings with the same cause: the same kind, kernel, lines and memory.
std::string identity_of(const located_finding& found);

// The result of merging a finding into a list. `at` is its index.
struct merged {
  std::size_t at;
  enum class as : std::uint8_t {
    fresh,     // new in the list
    repeated,  // added to the count
    decisive   // added to the count, and now shown because its fix takes more
  } how;
};
merged merge_into(std::vector<located_finding>& all, located_finding found);

// Whether the results may still be correct in spite of the finding.
inline bool is_warning(finding_kind kind) {
  return kind == finding_kind::leak || kind == finding_kind::unchecked_error ||
         kind == finding_kind::wrong_copy_kind || kind == finding_kind::unaligned_tile;
}

// Line `number` (from 1) of a file, trimmed; empty if it cannot be read.
std::string source_line(const std::string& file, int number);

}  // namespace stepwise
