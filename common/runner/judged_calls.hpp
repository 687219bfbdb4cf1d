// Makes the calls of a judge, one after the other, on buffers that are there already.
//
// tested  grader/judge/tests/judged_session_test.cpp
#pragma once

#include "common/runner/contract.hpp"

namespace stepwise::runner {

// Until the judge's end of `control` is closed; `arrays` is the memory of host arrays. Returns an
// exit code of the runner.
int make_judged_calls(const contract& function, int control, int arrays);

}  // namespace stepwise::runner
