// Metadata that platforms add to submissions: when they were handed in, and by whom.
//
// source  Gradescope's export has submission_metadata.yml.
// Tested by tests/intake_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise::batch {

// What the metadata says of one submission.
struct submission_facts {
  std::string id, name;  // empty: unknown
  std::optional<std::int64_t> time;
};

struct gradescope_facts {
  std::map<std::string, submission_facts> by_number;
  std::vector<std::string> repeated;  // numbers that are described again: the first one counts
};
// It reads the lines that Gradescope writes, by their columns, and ignores other YAML: a name of
// several lines, or what a student's tests printed, is indented further.
gradescope_facts gradescope_metadata(std::string_view yaml);

// Seconds since 1970 by id, of lines "id,time" with or without a heading; failure(usage) names a
// line that is neither.
std::map<std::string, std::int64_t> time_table(std::string_view csv, const std::string& origin);

}  // namespace stepwise::batch
