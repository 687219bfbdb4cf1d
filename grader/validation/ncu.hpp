// Runs a program under Nsight Compute and reads its counters.
//
// idea    ncu writes one line of CSV per launch, with `--page raw` and units that never change.
//         Kernels keep their mangled names, which the emulator uses, too.
// source  Nsight Compute's command line manual (options, the raw page), 2025.3.
// Tested by tests/ncu_test.cpp with a captured page.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/device/device.hpp"
#include "grader/judge/check.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/validation/ncu_source.hpp"

namespace stepwise {

// One launch of a kernel, as reported by ncu.
struct ncu_launch {
  std::string mangled;
  extent grid, block;
  std::map<std::string, double> metrics;  // the numeric ones
  std::vector<ncu_line> lines{};          // if requested
};

// Parses the raw page, which contains ncu's own lines ("==PROF== ..."). Throws failure(environment)
// if the text is not such a page.
std::vector<ncu_launch> parse_ncu_page(std::string_view text);

// The reason for missing counters, from ncu's own output, and a remedy. Empty if ncu reports no
// error.
std::string ncu_trouble(std::string_view text);

// Finds ncu on PATH, or otherwise in a CUDA toolkit in its usual place. Throws failure(environment)
// if ncu is missing.
std::string find_ncu();

// "2025.3.1.0", or empty.
std::string ncu_version(const std::string& ncu);

// Whether ncu reports source lines. If so, it samples the warps and reads accesses one by one.
enum class ncu_lines { left_out, counted };

// All launches of `command`, in order. Throws failure(environment) if ncu cannot count here.
std::vector<ncu_launch> run_under_ncu(const std::string& ncu,
                                      const std::vector<std::string>& command,
                                      const device_choice& device,
                                      const std::vector<std::string>& metrics, const activity& now,
                                      ncu_lines lines = ncu_lines::left_out);

}  // namespace stepwise
