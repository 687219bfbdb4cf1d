// The advice for a leak: how the program can free the memory, in the API and the language that it
// uses.
//
// idea    The author of a C++ program needs the function that matches the allocating function. A
//         Python program calls no such function: its packages free memory when the last reference
//         to that memory is gone.
// watch   A Python process may load an extension that was compiled with line information (-g). An
//         allocation by such an extension has a source line, and its author can call the function.
// tests   ../tests/freeing_test.cpp; a Python program and a driver API program in the test
//         "lab exec"
#pragma once

#include <string>
#include <string_view>

#include "common/report/located_finding.hpp"

namespace stepwise::runtime {

// `allocated_in`: the exported function that allocated, as std::source_location names it.
// `allocated_at`: the line that called it. `in_python`: the process is a Python interpreter.
std::string how_to_free(std::string_view allocated_in, const host_place& allocated_at,
                        bool in_python);

// Whether this process runs a Python interpreter.
bool is_python_process();

}  // namespace stepwise::runtime
