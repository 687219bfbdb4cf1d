// The links between a host and its GPU.
//
// Tested by grader/measure/tests/worth_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

struct link_rate {
  std::string name;
  double bytes_per_s = 0;  // in one direction
};

// The link with this name, for example "pcie5"; nullopt if there is none.
std::optional<link_rate> find_link(std::string_view name);
std::vector<std::string> known_links();

}  // namespace stepwise
