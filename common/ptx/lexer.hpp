// Splits PTX text into tokens, one at a time, without copying a character.
//
// idea    A dotted chain ("ld.global.v4.f32", "%tid.x", "cp.async.bulk.shared::cluster") is one
//         token, because the grammar never needs its parts separately.
// watch   `end` must point at readable memory, because the lexer looks one character ahead.
// source  PTX ISA 9.0, "Lexical Elements", "Constants". Tested by tests/lexer_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/ptx/ast.hpp"

namespace stepwise::ptx {

enum class token_kind : std::uint8_t {
  end,
  word,       // identifier, register, opcode with its modifiers
  directive,  // ".reg": one dotted word
  integer,    // value in `bits`
  float32,    // IEEE bits in the low half of `bits`
  float64,    // IEEE bits in `bits`
  string,     // `text` is between the quotes; there are no escapes
  mark,       // one character of punctuation
};

struct token {
  token_kind kind = token_kind::end;
  bool is_unsigned = false;  // integer with suffix U
  std::uint32_t line = 0;
  std::string_view text;
  std::uint64_t bits = 0;

  bool is(char mark) const { return kind == token_kind::mark && text[0] == mark; }
  bool is(token_kind what, std::string_view spelled) const {
    return kind == what && text == spelled;
  }
};

class lexer {
 public:
  lexer(std::string_view text, std::uint32_t first_line)
      : at_(text.data()), end_(text.data() + text.size()), line_(first_line) {}

  // The next token. At the end of the text, always returns a token of kind `end`. Throws
  // parse_error for a character that starts no token, a malformed number, and an unclosed string or
  // comment.
  token next();

  // Must be called right after next() returned a '{'. Skips to the matching '}' and returns the
  // text in between. Sets `first_line` to the line of that text's first character. Throws
  // parse_error.
  std::string_view skip_block(std::uint32_t& first_line);

  std::uint32_t line() const { return line_; }

 private:
  void skip_blanks();
  bool skip_comment();  // at '/': false if it starts no comment
  void skip_quoted();   // at '"'
  token number();
  token based_integer(const char* digits, const char* last, unsigned base);
  token hexadecimal_float(const char* first, const char* last);
  token decimal_float(const char* first);

  const char* at_;
  const char* end_;
  std::uint32_t line_;
};

// A token as it is quoted in messages: printable and short.
std::string quoted(const token& t);

}  // namespace stepwise::ptx
