// A program that fails after its kernels ran, and does not know why: one line points to the checks.
//
// idea    Only on_exit(3) and SIGABRT (a failed assertion) know that it failed; the line is the
//         last that is written. Nothing is said where something was, or where stderr is not any
//         more what it was at the start.
// watch   `lab exec` asks for it (STEPWISE_SUGGEST_CHECK=1) when it runs a program without checks.
//         An end by _exit or another signal is not seen.
// tests   grader/cli/tests/exec_test.cpp
#pragma once

namespace stepwise::runtime {

// A kernel was launched.
void note_launch();

}  // namespace stepwise::runtime
