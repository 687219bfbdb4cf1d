// The hints, in small portions: labs/<lab>/hints.md.
//
// idea    "## Banks" begins a topic, and "### ..." begins one of its parts: a nudge, the idea, or
//         most of the code. A topic without such headings has a single part. Goals in lab.toml name
//         their topic.
// Tested by tests/hints_test.cpp. labs/tests/hints_test.cpp tests that every goal has a topic.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

struct hint_part {
  std::string title;  // "The idea"; empty if the topic has one part
  std::vector<std::string> lines;
};

struct hint_topic {
  std::string title;
  std::vector<hint_part> parts;  // at least one
};

std::vector<hint_topic> parse_hints(std::string_view text);

// The topic's number, from 1; 0 if there is none.
int find_hint(const std::vector<hint_topic>& all, std::string_view title);

}  // namespace stepwise
