// An argument of --over: a name and its values.
//
//   threads=32..1024      doubling: 32, 64, ..., 1024
//   offset=0..32+4        adding 4: 0, 4, ..., 32
//   items=1,2,4,8         a list; its parts may be ranges, or words like true or by_warp
//   n=2^10..2^20          2^10 is 1024
//   size=64x64..1024x1024 with several numbers, each doubles
//
// Tested by tests/sweep_axis_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

struct sweep_axis {
  std::string name;
  std::vector<std::string> values;  // at least one, all distinct
};

inline constexpr std::size_t most_configurations = 200;  // per sweep

// Throws failure(usage), which explains the expected form.
sweep_axis parse_axis(std::string_view text);

// The cross product. Each combination has a value of every axis, and the last axis varies fastest.
// Throws failure(usage) for more than most_configurations, or if an axis is repeated.
std::vector<std::vector<std::string>> combinations(const std::vector<sweep_axis>& axes);

}  // namespace stepwise
