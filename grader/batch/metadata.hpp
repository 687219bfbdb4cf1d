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

namespace stepwise::batch {

// What the metadata says of one submission.
struct submission_facts {
  std::string id, name;  // empty: unknown
  std::optional<std::int64_t> time;
};

// By the submission's number. It reads the lines that Gradescope writes, and ignores other YAML.
std::map<std::string, submission_facts> gradescope_metadata(std::string_view yaml);

// Seconds since 1970 by id, of lines "id,time" with or without a heading; failure(usage) names a
// line that is neither.
std::map<std::string, std::int64_t> time_table(std::string_view csv, const std::string& origin);

}  // namespace stepwise::batch
