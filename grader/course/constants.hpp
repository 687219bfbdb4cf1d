// The constants at the top of a .cu file, and the file with other values for them.
//
// idea    `constexpr int threads = 256;` is a parameter. A sweep compiles the text with another
//         initialiser in place of the value. Lines keep their numbers, and constants that are
//         computed from the parameter follow.
// watch   This code reads declarations, not all of C++. Constants of classes, functions and
//         templates are ignored. So are arrays, pointers and functions.
// Tested by tests/constants_test.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepwise {

struct source_constant {
  std::string name;
  std::string value;               // its initialiser, as written
  std::size_t begin = 0, end = 0;  // the initialiser's range in the text
  int line = 0;                    // the name's line, from 1
};

// Scalars that are declared constexpr or const with an initialiser, at file scope or directly in a
// namespace, in order.
std::vector<source_constant> constants_of(std::string_view source);

// The constant with this name. Throws failure(usage), with a list of all constants, if there is
// none, or if there are several.
const source_constant& find_constant(const std::vector<source_constant>& constants,
                                     std::string_view name, const std::string& origin);

// The text with these initialisers, each (constant, value). The number of lines stays the same.
std::string with_values(std::string_view source,
                        std::vector<std::pair<source_constant, std::string>> values);

}  // namespace stepwise
