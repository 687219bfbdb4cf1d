// A profile of a call from ncu's hardware counters, in the same form as the time model's.
//
// idea    Launches of one kernel in one configuration are added up, with fractions and ratios
//         weighted by their time. ncu's raw page describes whole kernels, so each kernel has one
//         line without a number.
// watch   ncu repeats a kernel for every few counters and flushes the caches before each
//         repetition, so its times are those of a call with a cold L2.
// source  Nsight Compute Profiling Guide, "Metrics Reference", "Warp Stall Reasons", 2025.3.
// Tested by tests/ncu_test.cpp with a captured page.
#pragma once

#include <string>
#include <vector>

#include "common/device/gpu.hpp"
#include "common/report/profile.hpp"
#include "grader/validation/ncu.hpp"

namespace stepwise {

// The metrics that a profile requires, and the metrics that some versions of ncu lack.
std::vector<std::string> needed_metrics();
std::vector<std::string> further_metrics();

// The kernels in the order of their first launch. `model` has the warps that a multiprocessor
// holds.
std::vector<kernel_profile> profile_of(const std::vector<ncu_launch>& launches, const gpu& model);

// ncu's "GPU speed of light": the utilisation of the compute and the memory units, as fractions,
// weighted by the time of its launches in this configuration. Zeros if ncu lacks these metrics.
struct busy_shares {
  double compute = 0, memory = 0;
};
busy_shares speed_of_light(const std::vector<ncu_launch>& launches, const kernel_profile& of);

// Runs `command` under ncu, without the further metrics if ncu does not know one of them. Throws
// failure(environment), which names what is missing: ncu, the permission, a GPU.
std::vector<ncu_launch> profile_under_ncu(const std::vector<std::string>& command,
                                          const device_choice& device, const activity& now,
                                          ncu_lines lines);

}  // namespace stepwise
