// Sizes of a problem as they are typed: "1023", "2^20", "512x256".
//
// Tested by tests/sweep_axis_test.cpp and cli/tests/cli_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/lab/problem.hpp"
#include "grader/course/lab.hpp"

namespace stepwise {

// "1024", "-3", "2^10"; nullopt if it is something else, or more than 64 bits hold.
std::optional<std::int64_t> parse_number(std::string_view text);

// The same with x between them: "2^10x640".
std::optional<std::vector<std::int64_t>> parse_numbers(std::string_view text);

// A size that this problem takes; a comma is as good as an x. failure(usage) says what was
// expected, and begins with what was typed as `shown`: "--size 12x7", "--over n=abc".
lab_size parse_size(const lab& l, const problem& p, std::string_view text,
                    const std::string& shown);

}  // namespace stepwise
