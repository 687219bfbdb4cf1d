// Names of parts, limits, causes and experiments, and advice about them.
#pragma once

#include <string>

#include "grader/model/advice.hpp"

namespace stepwise::cli {

// In profiles by ncu this is "special or shared", since its short scoreboard may be either.
const char* stall_words(const kernel_analysis& a, stall s);
const char* part_words(part p);  // "issue slots"
std::string limit_sentence(const kernel_analysis& a);
const char* cause_words(cause c);         // sentences: the cause and what to try
const char* experiment_words(what_if e);  // the change

}  // namespace stepwise::cli
