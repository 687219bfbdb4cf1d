// Names of parts, limits, causes and experiments, and advice about them.
#pragma once

#include <string>

#include "grader/model/advice.hpp"

namespace stepwise::cli {

// The name of a stall. In profiles by ncu, a short scoreboard is "special or shared", because ncu
// counts both together.
const char* stall_words(const kernel_analysis& a, stall s);
const char* part_words(part p);  // "issue slots"
std::string limit_sentence(const kernel_analysis& a);
const char* cause_words(cause c);         // sentences: the cause and what to try
const char* experiment_words(what_if e);  // the change

}  // namespace stepwise::cli
