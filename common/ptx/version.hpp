// Versions of PTX.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace stepwise::ptx {

// A version of PTX, as in a directive .version.
struct version {
  unsigned major = 0, minor = 0;
  auto operator<=>(const version&) const = default;
};

// The version of the manual that this reader follows. A later version can be read if it uses
// nothing new.
inline constexpr version newest_version{9, 0};

std::string text_of(version v);  // "9.0"
// The version that a module's text states, even if the rest of the text is malformed; 0.0 if there
// is none.
version stated_version(std::string_view text);

}  // namespace stepwise::ptx
