// Figures of the overview as SVG: bars of counts and of ranges, with a text for each bar.
//
// Tested by tests/overview_test.cpp.
#pragma once

#include <string>
#include <vector>

namespace stepwise::publish {

struct bar {
  std::string label;  // escaped
  std::size_t count = 0;
  std::string tone;  // a class of the page's style: "good", "bad", "note"
};

// Lying bars, one below the other; `what` is read aloud.
std::string bars_svg(const std::vector<bar>& all, const std::string& what);

// How many values lie in each of twelve equal ranges, from `low` to `high` or as far as the values
// reach; a line marks `goal`, if it is above 0. `unit` is put behind numbers.
std::string distribution_svg(const std::vector<double>& values, double goal,
                             const std::string& unit, const std::string& what, double low = 1e300,
                             double high = -1e300);

}  // namespace stepwise::publish
