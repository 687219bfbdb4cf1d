// The versions that a verdict depends on: the lab, the grader, the compiler, the device.
//
// Tested by tests/results_test.cpp.
#pragma once

#include <filesystem>
#include <string>

#include "grader/batch/results.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/judge/installation.hpp"

namespace stepwise::batch {

// A key without the submission. Reads the grading programs, and asks nvcc for its version.
// `key_id` identifies the instructor's key.
verdict_key current_versions(const installation& where, const lab& l, const device_choice& device,
                             const std::string& key_id);

// The key `versions` with this submission's hash.
verdict_key key_for(verdict_key versions, const std::string& sha256);

// Whether the entry holds the final verdict for this key. INFRA is never final.
bool is_current(const json& entry, const verdict_key& key);

}  // namespace stepwise::batch
