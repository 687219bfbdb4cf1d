// lab walk in a student copy, which has no worked steps: their ideas in order, the times that goals
// compare with, and where the student's own file stands among them.
#pragma once

#include "grader/cli/context.hpp"

namespace stepwise::cli {

// `gpu_id`, `seed`: of the call whose time is modelled. The exit code: that of the file's class.
int walk_given(context& c, const lab& l, const std::string& gpu_id, std::uint64_t seed);

}  // namespace stepwise::cli
