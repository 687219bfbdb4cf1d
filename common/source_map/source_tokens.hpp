// Splits C++ and CUDA source into tokens, for code that needs some of its structure.
//
// watch   Macros are not expanded. Their definitions and uses become tokens as written.
// Tested by tests/source_tokens_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace stepwise {

struct source_token {
  // A sign is && or ||, an operator that ends with "=" (of at most two characters), or one other
  // character.
  enum class kind : std::uint8_t { word, number, text, sign } what;
  std::string_view text;  // in the source; for a raw string, without its R
  std::size_t begin;      // in the source
  int line;               // of its first character, from 1
  // The directive that the token is in: "include", or "#" for a directive without a name. Empty in
  // code.
  std::string_view directive;

  std::size_t end() const { return begin + text.size(); }
  bool is(std::string_view other) const { return text == other; }
};

// All tokens of `source`. They point into it. Comments, white space and line continuations are not
// tokens. Malformed source is not an error: an open literal ends at the end of its line, and an
// open comment or raw string at the end of the source.
std::vector<source_token> tokens_of(std::string_view source);

}  // namespace stepwise
