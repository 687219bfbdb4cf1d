// Help on a narrow terminal: lines that are too long go on below their last column.
//
// Tested by tests/help_text_test.cpp.
#pragma once

#include <string>
#include <string_view>

namespace stepwise {

// `help` in lines of at most `columns` columns, broken at blanks; a longer word stays whole. The
// last column of a line, set apart by two blanks, goes on under its own beginning, or four columns
// in on the next line if little room is left beside the others; a command goes on four columns in,
// and prose with the line that follows.
std::string fitted_help(std::string_view help, std::size_t columns = 80);

}  // namespace stepwise
