// Metadata that platforms add to submissions: when they were handed in, and by whom.
//
// source  Gradescope's export has submission_metadata.yml; nbgrader puts a timestamp.txt beside
// what
//         was handed in.
// Tested by tests/intake_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace stepwise::batch {

struct told {
  std::string id, name;  // empty: unknown
  std::optional<std::int64_t> time;
};

// By submission's number. Of the file's YAML only what Gradescope writes is read: other lines are
// passed over.
std::map<std::string, told> gradescope_metadata(std::string_view yaml);

// "id,time" by lines, with or without a heading; failure(usage) names the line that is neither.
std::map<std::string, told> time_table(std::string_view csv, const std::string& origin);

}  // namespace stepwise::batch
