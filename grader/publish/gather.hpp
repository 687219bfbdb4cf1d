// Collects the overview's data from a results folder and the lab's own files.
//
// Tested by tests/overview_test.cpp.
#pragma once

#include <filesystem>

#include "grader/batch/results.hpp"
#include "grader/course/lab.hpp"
#include "grader/publish/overview.hpp"

namespace stepwise::publish {

// Without the lab's solutions, there are no published steps and no key.
overview_parts gather(const batch::results& from, const lab& l, const fs::path& root);

}  // namespace stepwise::publish
