// Changes the input of a target.
#pragma once

#include <random>
#include <string>

namespace stepwise::fuzz {

// Changes `input` at one place. Changes bytes for binary formats (byte_mutator.cpp), and words and
// statements for PTX (ptx_mutator.cpp). Each target is linked with one of the two.
void change(std::string& input, std::mt19937& random);

}  // namespace stepwise::fuzz
