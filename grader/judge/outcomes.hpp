// Classifies a program's ends, errors and limits as verdicts, for all kinds of sessions.
//
// Tested by tests/session_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "grader/judge/verdict.hpp"
#include "grader/system/process.hpp"

namespace stepwise {

// The verdict for the cudaError_t that ended a call.
verdict class_of_error(int code);

// The same outcome, but INFRA of the emulator becomes CRASH with advice, because the file contains
// something that the emulator cannot run.
call_outcome with_advice(call_outcome outcome);

// The outcome of a program that ended before its call did. `errors` is its stderr, `limit_bytes`
// its memory limit (0: no limit).
call_outcome outcome_of_end(const child_end& end, const std::string& errors,
                            std::uint64_t limit_bytes);
// " (512 MB)"; empty for 0.
std::string limit_text(std::uint64_t bytes);

// TIMEOUT after this many seconds of one call, and OUTPUT after this many bytes.
call_outcome timed_out(double time_limit_s);
call_outcome flooded(std::uint64_t output_limit_bytes);

// The start of the message about a judged program that cannot start here.
inline const std::string could_not_start = "the program could not start: ";

// The reason why our runtime refused a function that `message` names, from the program's
// stderr: "boxDim[1] is 512, expected 1 to 256". Empty if there is none.
std::string refusal_in(const std::string& errors, const std::string& message);

// The program's stderr, without the lines of our runtime and of the runner.
std::string said_by_program(const std::string& errors);

}  // namespace stepwise
