// A token stream with one token of look-ahead, and the parts of the grammar that all constructs
// use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/ptx/lexer.hpp"

namespace stepwise::ptx {

// The maximum nesting of braces, brackets and expressions. It bounds the stack for hostile input.
inline constexpr int nesting_limit = 100;

// A constant expression's value. Integers are 64 bits in two's complement.
struct constant {
  enum class kind : std::uint8_t { integer, float32, float64 } what = kind::integer;
  bool is_unsigned = false;
  std::uint64_t bits = 0;

  double as_double() const;
};

class reader {
 public:
  reader(std::string_view text, std::uint32_t first_line) : lexer_(text, first_line) { advance(); }

  const token& current() const { return current_; }
  void advance() { current_ = lexer_.next(); }
  bool at_end() const { return current_.kind == token_kind::end; }

  // Takes the current token if it is the given one.
  bool accept(char mark);
  bool accept_directive(std::string_view spelled);

  // Takes the required token. If there is another token, throws parse_error, which names `where`.
  void expect(char mark, std::string_view where);
  std::string_view expect_word(std::string_view what);
  std::string_view expect_string(std::string_view what);
  std::uint64_t expect_integer(std::string_view what);
  // Takes an integer that is at most `limit`.
  std::uint32_t expect_small(std::string_view what, std::uint32_t limit);

  // Takes a constant expression: C's operators on 64-bit integers, and + - * / on floats.
  // source  PTX ISA 9.0, "Constant Expressions"
  constant expect_constant(std::string_view what);
  // Takes the constant expression after a name ("+4", "+-8", "-8"). Returns 0 if there is none.
  std::int64_t optional_offset();

  // Takes the text between '{' and '}', and returns the text and its first line.
  std::string_view expect_block(std::uint32_t& first_line, std::string_view where);

  [[noreturn]] void fail(std::string_view expected) const;

 private:
  friend struct deeper;
  constant conditional(std::string_view what);
  constant binary(int lowest, std::string_view what);
  constant unary(std::string_view what);
  constant primary(std::string_view what);
  // The precedence of the operator here, or 0 if there is no operator.
  int operator_here(std::string_view& spelled) const;

  lexer lexer_;
  token current_;
  int depth_ = 0;
};

// Counts one level of nesting during its lifetime. Throws parse_error when it is too deep.
struct deeper {
  explicit deeper(reader& in) : in_(in) {
    if (++in.depth_ > nesting_limit) {
      --in.depth_;
      throw parse_error(in.current().line, "nested too deeply");
    }
  }
  ~deeper() { --in_.depth_; }
  deeper(const deeper&) = delete;
  deeper& operator=(const deeper&) = delete;

 private:
  reader& in_;
};

}  // namespace stepwise::ptx
