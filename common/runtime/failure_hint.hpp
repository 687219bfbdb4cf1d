// A one-line hint to use the checks, for a program that fails after its kernels ran.
//
// idea    A failure is detected by on_exit(3) or SIGABRT (a failed assertion). The hint is the last
//         line that is written. There is no hint if another message was already announced, or if
//         stderr was redirected since the start.
// watch   `lab exec` enables the hint (STEPWISE_SUGGEST_CHECK=1) when it runs a program without
//         checks. A program that ends by _exit or another signal gets no hint.
// tests   grader/cli/tests/exec_test.cpp
#pragma once

namespace stepwise::runtime {

// Called when a kernel is launched.
void note_launch();

}  // namespace stepwise::runtime
