// How a program frees memory that it left allocated: the advice of a leak, for the API and the
// language that it uses.
//
// idea    An author of C++ needs the function that matches the one that allocated. A Python program
//         calls no such function: its packages free memory when the last reference to it goes.
// watch   A Python process may load an extension that its author compiled with lines (-g): such an
//         allocation has a source line, and its author can call the function.
// tests   ../tests/freeing_test.cpp; in the test "lab exec" a Python program and one of the driver
//         API
#pragma once

#include <string>
#include <string_view>

#include "common/report/located_finding.hpp"

namespace stepwise::runtime {

// `allocated_in`: the exported function that allocated, as std::source_location has it.
// `allocated_at`: the line that called it. `in_python`: the process is a Python interpreter.
std::string how_to_free(std::string_view allocated_in, const host_place& allocated_at,
                        bool in_python);

// Whether this process runs a Python interpreter.
bool is_python_process();

}  // namespace stepwise::runtime
