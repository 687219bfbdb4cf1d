// Splits C++ and CUDA source into tokens, for readers that need some of its structure.
//
// watch   Nothing is expanded: a macro's definition and its uses are read as they are written.
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
  std::string_view text;  // in the source; a raw string's begins after its R
  std::size_t begin;      // in the source
  int line;               // of its first character, from 1
  // "include" in an #include, "#" in a directive without a name; empty in code.
  std::string_view directive;

  std::size_t end() const { return begin + text.size(); }
  bool is(std::string_view other) const { return text == other; }
};

// All tokens, which point into `source`. Comments, white space and line continuations are not
// tokens. Malformed source is not an error: a literal ends with its line, a comment or a raw string
// with the source.
std::vector<source_token> tokens_of(std::string_view source);

}  // namespace stepwise
