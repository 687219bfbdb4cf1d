// Accepts or expects tokens, and computes constant expressions by operator precedence.
#include "common/ptx/reader.hpp"

#include <bit>
#include <limits>

namespace stepwise::ptx {
namespace {

using number_kind = constant::kind;

constant integer(std::uint64_t bits, bool is_unsigned) {
  return {number_kind::integer, is_unsigned, bits};
}

constant real(double value) {
  return {number_kind::float64, false, std::bit_cast<std::uint64_t>(value)};
}

bool truth(const constant& c) {
  return c.what == number_kind::integer ? c.bits != 0 : c.as_double() != 0;
}

template <class T>
bool compare(std::string_view op, T a, T b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  return a >= b;
}

bool is_comparison(std::string_view op) {
  return op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=";
}

constant apply_real(std::string_view op, double a, double b, std::uint32_t line) {
  if (is_comparison(op)) return integer(compare(op, a, b), false);
  if (op == "+") return real(a + b);
  if (op == "-") return real(a - b);
  if (op == "*") return real(a * b);
  if (op == "/") return real(a / b);
  throw parse_error(line, "the operator '" + std::string(op) + "' does not take floating point");
}

std::uint64_t divide(std::string_view op, const constant& a, const constant& b, bool is_unsigned,
                     std::uint32_t line) {
  if (b.bits == 0) throw parse_error(line, "division by zero in a constant expression");
  if (is_unsigned) return op == "/" ? a.bits / b.bits : a.bits % b.bits;
  const auto x = static_cast<std::int64_t>(a.bits), y = static_cast<std::int64_t>(b.bits);
  // Only this quotient can overflow. In that case, it wraps around, as on the device.
  if (y == -1) return op == "/" ? 0 - a.bits : 0;
  return static_cast<std::uint64_t>(op == "/" ? x / y : x % y);
}

std::uint64_t shift(std::string_view op, const constant& a, std::uint64_t by) {
  if (op == "<<") return by < 64 ? a.bits << by : 0;
  if (a.is_unsigned) return by < 64 ? a.bits >> by : 0;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(a.bits) >> (by < 64 ? by : 63));
}

constant apply(std::string_view op, const constant& a, const constant& b, std::uint32_t line) {
  if (op == "&&") return integer(truth(a) && truth(b), false);
  if (op == "||") return integer(truth(a) || truth(b), false);
  if (a.what != number_kind::integer || b.what != number_kind::integer) {
    return apply_real(op, a.as_double(), b.as_double(), line);
  }
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  if (is_comparison(op)) {
    return integer(is_unsigned ? compare(op, a.bits, b.bits)
                               : compare(op, static_cast<std::int64_t>(a.bits),
                                         static_cast<std::int64_t>(b.bits)),
                   false);
  }
  if (op == "<<" || op == ">>") return integer(shift(op, a, b.bits), a.is_unsigned);
  if (op == "/" || op == "%") return integer(divide(op, a, b, is_unsigned, line), is_unsigned);
  switch (op[0]) {
    case '+':
      return integer(a.bits + b.bits, is_unsigned);
    case '-':
      return integer(a.bits - b.bits, is_unsigned);
    case '*':
      return integer(a.bits * b.bits, is_unsigned);
    case '&':
      return integer(a.bits & b.bits, is_unsigned);
    case '|':
      return integer(a.bits | b.bits, is_unsigned);
    default:
      return integer(a.bits ^ b.bits, is_unsigned);
  }
}

constexpr int product_precedence = 10;  // of * / %

constexpr std::uint64_t sign_of(number_kind what) {
  return what == number_kind::float32 ? 0x80000000u : std::uint64_t{1} << 63;
}

}  // namespace

double constant::as_double() const {
  if (what == kind::float64) return std::bit_cast<double>(bits);
  if (what == kind::float32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return is_unsigned ? static_cast<double>(bits)
                     : static_cast<double>(static_cast<std::int64_t>(bits));
}

void reader::fail(std::string_view expected) const {
  throw parse_error(current_.line,
                    "expected " + std::string(expected) + ", found " + quoted(current_));
}

bool reader::accept(char mark) {
  if (!current_.is(mark)) return false;
  advance();
  return true;
}

bool reader::accept_directive(std::string_view spelled) {
  if (!current_.is(token_kind::directive, spelled)) return false;
  advance();
  return true;
}

void reader::expect(char mark, std::string_view where) {
  if (!accept(mark)) fail("'" + std::string(1, mark) + "' " + std::string(where));
}

std::string_view reader::expect_word(std::string_view what) {
  if (current_.kind != token_kind::word) fail(what);
  const std::string_view text = current_.text;
  advance();
  return text;
}

std::string_view reader::expect_string(std::string_view what) {
  if (current_.kind != token_kind::string) fail(what);
  const std::string_view text = current_.text;
  advance();
  return text;
}

std::uint64_t reader::expect_integer(std::string_view what) {
  if (current_.kind != token_kind::integer) fail(what);
  const std::uint64_t value = current_.bits;
  advance();
  return value;
}

std::uint32_t reader::expect_small(std::string_view what, std::uint32_t limit) {
  if (current_.kind == token_kind::integer && current_.bits > limit) {
    fail(std::string(what) + " of at most " + std::to_string(limit));
  }
  return static_cast<std::uint32_t>(expect_integer(what));
}

std::string_view reader::expect_block(std::uint32_t& first_line, std::string_view where) {
  if (!current_.is('{')) fail("'{' " + std::string(where));
  const std::string_view inside = lexer_.skip_block(first_line);
  advance();
  return inside;
}

constant reader::expect_constant(std::string_view what) { return conditional(what); }

std::int64_t reader::optional_offset() {
  std::uint64_t sum = 0;
  while (current_.is('+') || current_.is('-')) {
    const bool minus = current_.is('-');
    advance();
    const constant c = binary(product_precedence, "a constant offset");
    if (c.what != number_kind::integer) fail("an integer offset");
    sum += minus ? 0 - c.bits : c.bits;
  }
  return static_cast<std::int64_t>(sum);
}

constant reader::conditional(std::string_view what) {
  const deeper level(*this);
  const constant condition = binary(1, what);
  if (!accept('?')) return condition;
  const constant yes = conditional(what);
  expect(':', "in a conditional expression");
  const constant no = conditional(what);
  return truth(condition) ? yes : no;
}

int reader::operator_here(std::string_view& spelled) const {
  if (current_.kind != token_kind::mark) return 0;
  const char first = current_.text[0];
  const char second = current_.text.data()[1];
  const bool twice = first == second &&
                     (first == '|' || first == '&' || first == '<' || first == '>' || first == '=');
  const bool with_equals = second == '=' && (first == '<' || first == '>' || first == '!');
  spelled = {current_.text.data(), std::size_t{1} + (twice || with_equals)};
  if (with_equals) return first == '!' ? 6 : 7;
  switch (first) {
    case '|':
      return twice ? 1 : 3;
    case '&':
      return twice ? 2 : 5;
    case '^':
      return 4;
    case '=':
      return twice ? 6 : 0;
    case '<':
    case '>':
      return twice ? 8 : 7;
    case '+':
    case '-':
      return 9;
    case '*':
    case '/':
    case '%':
      return product_precedence;
    default:
      return 0;
  }
}

constant reader::binary(int lowest, std::string_view what) {
  const deeper level(*this);
  constant left = unary(what);
  std::string_view op;
  for (int precedence; (precedence = operator_here(op)) >= lowest && precedence != 0;) {
    const std::uint32_t line = current_.line;
    advance();
    if (op.size() == 2) advance();
    left = apply(op, left, binary(precedence + 1, what), line);
  }
  return left;
}

constant reader::unary(std::string_view what) {
  const deeper level(*this);
  if (accept('+')) return unary(what);
  if (accept('-')) {
    constant c = unary(what);
    c.bits = c.what == number_kind::integer ? 0 - c.bits : c.bits ^ sign_of(c.what);
    return c;
  }
  if (accept('!')) return integer(!truth(unary(what)), false);
  if (accept('~')) {
    const constant c = unary(what);
    if (c.what != number_kind::integer) fail("an integer after '~'");
    return integer(~c.bits, c.is_unsigned);
  }
  return primary(what);
}

constant reader::primary(std::string_view what) {
  const token t = current_;
  switch (t.kind) {
    case token_kind::integer:
      advance();
      // A literal that does not fit .s64 is .u64.
      return integer(t.bits, t.is_unsigned || t.bits >> 63);
    case token_kind::float32:
      advance();
      return {number_kind::float32, false, t.bits};
    case token_kind::float64:
      advance();
      return {number_kind::float64, false, t.bits};
    case token_kind::word:
      if (t.text != "WARP_SZ") fail(what);
      advance();
      return integer(32, false);
    default:
      break;
  }
  if (!accept('(')) fail(what);
  if (current_.kind == token_kind::directive) {  // a cast
    const bool to_unsigned = current_.text == ".u64";
    if (!to_unsigned && current_.text != ".s64") fail("'.s64' or '.u64' in a cast");
    advance();
    expect(')', "after a cast");
    constant c = unary(what);
    if (c.what != number_kind::integer) fail("an integer after a cast");
    c.is_unsigned = to_unsigned;
    return c;
  }
  const constant inside = conditional(what);
  expect(')', "in a constant expression");
  return inside;
}

}  // namespace stepwise::ptx
