// Reports test cases that cannot be judged on this machine as skipped. A program that skips all
// requested cases exits with 77, which Meson and `lab test` count. Otherwise, skipped cases are
// only printed. Therefore, a case that needs something that a machine may lack has its own Meson
// test.
#pragma once

#include <string>

namespace stepwise {

// The case must return after this. `why` is, for example, "no nvcc: no programs were built".
void skip_case(const std::string& why);

// The test program's exit code, derived from doctest's; 1 if filters left no case.
int with_skips(int status);

}  // namespace stepwise
