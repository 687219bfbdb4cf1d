// Versions of PTX.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace stepwise::ptx {

// A version of PTX, as .version states it.
struct version {
  unsigned major = 0, minor = 0;
  auto operator<=>(const version&) const = default;
};

// That of the manual that this reader was written from. Later ones are read as far as they are the
// same.
inline constexpr version newest_version{9, 0};

std::string text_of(version v);  // "9.0"
// What a module's text states, however the text continues; 0.0 if it states none.
version stated_version(std::string_view text);

}  // namespace stepwise::ptx
