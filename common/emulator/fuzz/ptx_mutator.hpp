// Changes PTX into text that is still close to PTX. change() is in mutator.hpp.
#pragma once

#include <random>
#include <string>

namespace stepwise::fuzz {

// Puts some statements of `other` into `input`.
void cross(std::string& input, const std::string& other, std::mt19937& random);

}  // namespace stepwise::fuzz
