// A counted program's profile, read from the file that it wrote, and shown.
//
// watch   A student's process writes that file: texts in it are escaped, and what is no profile is
//         passed over.
// Tested by cli/tests/counters_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "common/report/profile.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise {

// Of all processes that wrote to the file; empty if there is no such file.
struct counted_work {
  std::vector<kernel_profile> kernels;
  device_transfers transfers;
};
counted_work read_profile(const std::filesystem::path& file);

// What became of a kernel that failed, in words; empty: none did.
std::string read_failure(const std::filesystem::path& file);

// Kernel by kernel, an empty line after each.
std::string profile_shown(const std::vector<kernel_profile>& kernels, const terminal_style& style);

// `kernels` of the documents, see JSON.md.
json profile_document(const std::vector<kernel_profile>& kernels);

}  // namespace stepwise
