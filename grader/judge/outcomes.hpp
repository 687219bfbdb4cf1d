// How a program's ends, errors and limits are reported: the verdicts that sessions of all kinds
// share.
//
// Tested by tests/session_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "grader/judge/verdict.hpp"
#include "grader/system/process.hpp"

namespace stepwise {

// Of a cudaError_t that a call ended with.
verdict class_of_error(int code);

// The same outcome; of a limit of the emulator's with what to do.
call_outcome with_advice(call_outcome outcome);

// A program that ended before its call was over. `errors` is what it wrote to stderr,
// `limit_bytes` what it may have (0: no limit).
call_outcome outcome_of_end(const child_end& end, const std::string& errors,
                            std::uint64_t limit_bytes);
// " (512 MB)"; nothing for 0.
std::string limit_text(std::uint64_t bytes);

// TIMEOUT after that many seconds of one call, and OUTPUT beyond that many bytes.
call_outcome timed_out(double time_limit_s);
call_outcome flooded(std::uint64_t output_limit_bytes);

// How the message of a judged program begins that says it cannot start here.
inline const std::string could_not_start = "the program could not start: ";

// What a program wrote to stderr, without our runtime's and the runner's lines.
std::string said_by_program(const std::string& errors);

}  // namespace stepwise
