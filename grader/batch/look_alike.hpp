// Detects ids that people confuse, with Latin and Cyrillic letters, capitals, accents and invisible
// characters.
//
// Tested by tests/claims_test.cpp.
#pragma once

#include <string>
#include <string_view>

namespace stepwise::batch {

// A key that is equal for two ids that look alike. The key itself has no meaning.
std::string look_of(std::string_view id);

// Removes and returns the first character. For bytes that are not UTF-8, returns some character.
char32_t take_character(std::string_view& text);

// White space and invisible characters.
bool is_unseen(char32_t c);

}  // namespace stepwise::batch
