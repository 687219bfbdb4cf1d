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

// The version of the manual that this reader follows. Later versions are read as far as they are
// the same.
inline constexpr version newest_version{9, 0};

std::string text_of(version v);  // "9.0"
// The version in a module's text, however the text continues; 0.0 if there is none.
version stated_version(std::string_view text);

}  // namespace stepwise::ptx
