// Metadata that platforms add to submissions: the time, and the author.
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

// The metadata of one submission.
struct submission_facts {
  std::string id, name;  // empty: unknown
  std::optional<std::int64_t> time;
};

struct gradescope_facts {
  std::map<std::string, submission_facts> by_number;
  std::vector<std::string> repeated;  // numbers that are described twice; the first one counts
};
// Reads the lines that Gradescope writes, by their columns, and ignores other YAML. Multi-line
// names, and the output of a student's tests, are indented further.
gradescope_facts gradescope_metadata(std::string_view yaml);

// Seconds since 1970 by id, from lines "id,time" with an optional heading. Throws failure(usage),
// which names a line of any other form.
std::map<std::string, std::int64_t> time_table(std::string_view csv, const std::string& origin);

}  // namespace stepwise::batch
