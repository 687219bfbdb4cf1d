// The record of `lab dev limits --record`, solutions/<lab>/measured/<gpu>.limits.jsonl, and the
// handout's table generated from it.
//
// idea    As in record.hpp, times are recorded and their reading is not. The reading is derived for
//         each table, so a change to the rule changes all tables.
// Tested by tests/limits_test.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/course/lab.hpp"
#include "grader/measure/limits.hpp"

namespace stepwise {

// `rows` are the result of time_limits() for a step: all ok, the whole first.
json limits_record(const lab& l, const device_choice& device, const std::string& step,
                   const std::vector<bench_row>& rows, const std::string& date,
                   const std::string& command);

// A record with its reading.
struct recorded_limits {
  std::string gpu, step, label;  // "NVIDIA H200", "03_sequential", "n = 268435456"
  lab_size size;
  double full_ms = 0;
  interval full_range_ms;
  std::vector<part_time> parts;
  limit_reading reading;
  bool is_certain = true;
};
// solutions/LAB/measured/GPU.limits.jsonl. Throws failure(ours) if the file is not a record.
std::optional<recorded_limits> load_recorded_limits(const fs::path& root, const lab& l,
                                                    std::string_view device_name);

// The Markdown between the markers "limits" of a lab's handout; "" if the lab has no parts.
std::string limits_markdown(const fs::path& root, const lab& l);

}  // namespace stepwise
