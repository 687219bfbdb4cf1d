// Test cases that cannot be judged here, reported as skipped: a program that skipped every case
// that it was asked for ends with 77, which Meson and `lab test` count. What other programs skip is
// printed; a case that needs what a machine may lack has a test of its own in Meson, so that it is
// counted.
#pragma once

#include <string>

namespace stepwise {

// The case returns after this. `why`: "no nvcc: no programs were built".
void skip_case(const std::string& why);

// The test program's exit code, of doctest's; 1 where filters left no case.
int with_skips(int status);

}  // namespace stepwise
