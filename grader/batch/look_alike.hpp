// Ids that a person takes for one another: Latin and Cyrillic letters, capitals, accents,
// characters that show nothing.
//
// Tested by tests/claims_test.cpp.
#pragma once

#include <string>
#include <string_view>

namespace stepwise::batch {

// Equal for two ids that look alike. It means nothing by itself.
std::string look_of(std::string_view id);

// The first character, which is taken off; of bytes that are no UTF-8, some character.
char32_t take_character(std::string_view& text);

// White space, and characters that show nothing.
bool is_unseen(char32_t c);

}  // namespace stepwise::batch
