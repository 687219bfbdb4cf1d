// The constants at the top of a .cu file, and the file with other values of them.
//
// idea    `constexpr int threads = 256;` is a knob. What a sweep compiles is the text with another
//         initialiser in the same place: lines keep their numbers, and constants that are computed
//         from this one follow.
// watch   This reads declarations, not C++: a constant of a class, a function or a template is
//         left alone, and so is an array, a pointer, a function.
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
  std::size_t begin = 0, end = 0;  // of the initialiser in the text
  int line = 0;                    // of the name, from 1
};

// Scalars that are declared constexpr or const with an initialiser, at file scope or directly in a
// namespace, in order.
std::vector<source_constant> constants_of(std::string_view source);

// The one of that name. failure(usage) if `origin` has none, naming those that it has, or several.
const source_constant& find_constant(const std::vector<source_constant>& constants,
                                     std::string_view name, const std::string& origin);

// The text with these initialisers, each (constant, value); it has as many lines as before.
std::string with_values(std::string_view source,
                        std::vector<std::pair<source_constant, std::string>> values);

}  // namespace stepwise
