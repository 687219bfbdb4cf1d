// lab walk in a student copy, which has no worked steps: the steps' ideas in order, the times that
// goals compare with, and the rank of the student's own file.
#pragma once

#include "grader/cli/context.hpp"

namespace stepwise::cli {

// `gpu_id` and `seed` select the modelled call. Returns the exit code of the file's verdict.
int walk_given(context& c, const lab& l, const std::string& gpu_id, std::uint64_t seed);

// Shows the idea of one step, and its time if a goal compares with it.
int show_given(context& c, const lab& l, const step& s);

}  // namespace stepwise::cli
