// Makes the calls of a judge, one after the other, on buffers that the judge has filled.
//
// tested  grader/judge/tests/judged_session_test.cpp
#pragma once

#include "common/runner/contract.hpp"

namespace stepwise::runner {

// Runs until the judge closes its end of `control`. `arrays` is the memory of host arrays. Returns
// the runner's exit code.
int make_judged_calls(const contract& function, int control, int arrays);

}  // namespace stepwise::runner
