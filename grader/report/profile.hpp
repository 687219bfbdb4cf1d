// Reads a counted program's profile from the file that it wrote, and shows it.
//
// watch   A student's process writes that file, so its texts are escaped and malformed profiles are
//         ignored.
// Tested by cli/tests/counters_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "common/report/profile.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise {

// The work of all processes that wrote to the file. Empty if the file is missing.
struct counted_work {
  std::vector<kernel_profile> kernels;
  device_transfers transfers;
};
counted_work read_profile(const std::filesystem::path& file);

// Describes the failure of a kernel. Empty if none failed.
std::string read_failure(const std::filesystem::path& file);

// Kernel by kernel, each followed by an empty line.
std::string profile_shown(const std::vector<kernel_profile>& kernels, const terminal_style& style);

// The key `kernels`. See JSON.md.
json profile_document(const std::vector<kernel_profile>& kernels);

}  // namespace stepwise
