// SVG figures for the overview: bar charts of counts and of ranges, with a text per bar.
//
// Tested by tests/overview_test.cpp.
#pragma once

#include <string>
#include <vector>

namespace stepwise::publish {

struct bar {
  std::string label;  // escaped
  std::size_t count = 0;
  std::string tone;  // a CSS class of the page: "good", "bad", "note"
};

// Horizontal bars, one below the other. Screen readers read `what` aloud.
std::string bars_svg(const std::vector<bar>& all, const std::string& what);

// The number of values in each of twelve equal ranges, from `low` to `high` or as far as the values
// reach. A line marks `goal` if `goal` is above 0. Numbers are followed by `unit`.
std::string distribution_svg(const std::vector<double>& values, double goal,
                             const std::string& unit, const std::string& what, double low = 1e300,
                             double high = -1e300);

}  // namespace stepwise::publish
