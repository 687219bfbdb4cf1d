// A profile of a call from hardware counters: what ncu counts, in the form of the time model's.
//
// idea    Launches of one kernel in one configuration are added up; shares and ratios are weighted
//         by their time. ncu's raw page describes whole kernels, so each has one line without a
//         number.
// watch   ncu repeats a kernel for every few counters, and flushes the caches before each time:
//         what it times is a call with a cold L2.
// source  Nsight Compute Profiling Guide, "Metrics Reference", "Warp Stall Reasons", 2025.3.
// Tested by tests/ncu_test.cpp with a captured page.
#pragma once

#include <string>
#include <vector>

#include "common/device/gpu.hpp"
#include "common/report/profile.hpp"
#include "grader/validation/ncu.hpp"

namespace stepwise {

// Those without which there is no profile, and those that some versions of ncu do not have.
std::vector<std::string> needed_metrics();
std::vector<std::string> further_metrics();

// In the order of their first launch. `model` says how many warps a multiprocessor holds.
std::vector<kernel_profile> profile_of(const std::vector<ncu_launch>& launches, const gpu& model);

// ncu's own measure of how busy a kernel keeps the compute and the memory units ("GPU speed of
// light"), shares, weighted by the time of its launches in this configuration; zeros where ncu has
// no such metrics.
struct busy_shares {
  double compute = 0, memory = 0;
};
busy_shares speed_of_light(const std::vector<ncu_launch>& launches, const kernel_profile& of);

// Runs `command` under ncu, without the further metrics if it does not know one.
// failure(environment) says what is missing: ncu, the permission, a GPU.
std::vector<ncu_launch> profile_under_ncu(const std::vector<std::string>& command,
                                          const device_choice& device, const activity& now,
                                          ncu_lines lines);

}  // namespace stepwise
