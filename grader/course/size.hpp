// Sizes of a problem as the user types them: "1023", "2^20", "512x256".
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

// "1024", "-3", "2^10". nullopt for any other text, or if the number exceeds 64 bits.
std::optional<std::int64_t> parse_number(std::string_view text);

// Numbers with x between them: "2^10x640".
std::optional<std::vector<std::int64_t>> parse_numbers(std::string_view text);

// A size that this problem supports. A comma may replace the x. Throws failure(usage), which
// explains the format and starts with the typed text, `shown`: "--size 12x7", "--over n=abc".
lab_size parse_size(const lab& l, const problem& p, std::string_view text,
                    const std::string& shown);

}  // namespace stepwise
