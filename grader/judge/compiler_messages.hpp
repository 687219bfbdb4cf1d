// Explains a compiler's output to a student: the warnings about the file, or why it does not
// compile (because of the machine, a limit of the sandbox, or the source).
//
// Tested by tests/compile_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/judge/compile.hpp"
#include "grader/judge/diagnostics.hpp"
#include "grader/system/process.hpp"

namespace stepwise {

// The warnings about the file itself (which messages call `shown`) that may point to a mistake.
std::vector<compiler_warning> warnings_in(const std::string& log, const std::string& shown,
                                          const std::string& source);

// The sandbox limit that ended the compiler, in words, because the source is the cause. Otherwise
// empty.
std::string limit_that_ended(const child_result& result, const compile_guards& guards);

// The result for a source that does not compile. `log` is the compiler's whole output.
compiled explain_failure(const child_result& result, const std::string& log, const lab& l,
                         const installation& where, const quotable& sources,
                         const compile_guards& guards);

// Throws failure(environment) if the cause is the disk, the memory, a missing host compiler or a
// signal. `output` is the folder that the compiler wrote to. A crash of one of nvcc's programs does
// not count, because the source may have caused it.
void refuse_what_is_not_the_students_fault(const child_result& result,
                                           const std::filesystem::path& output);

}  // namespace stepwise
