// Classifies characters by a table, skips spaces and comments, and reads words and numbers.
#include "common/ptx/lexer.hpp"

#include <array>
#include <charconv>
#include <cstring>

namespace stepwise::ptx {
namespace {

enum : std::uint8_t {
  blank = 1,       // space, tab, return, form feed
  word_start = 2,  // letters and _ $ %
  word_part = 4,   // letters, digits, _ $
  digit = 8,
  block_mark = 16,  // the characters that matter to skip_block
};

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = word_start | word_part;
  for (int c = '0'; c <= '9'; ++c) classes[c] = word_part | digit;
  classes['_'] = classes['$'] = word_start | word_part;
  classes['%'] = word_start;
  for (int c : {' ', '\t', '\r', '\f', '\v'}) classes[c] = blank;
  for (int c : {'{', '}', '"', '/', '\n'}) classes[c] = block_mark;
  return classes;
}

constexpr auto classes = make_classes();

bool is_of(char c, std::uint8_t what) { return classes[static_cast<unsigned char>(c)] & what; }

constexpr std::string_view punctuation = "{}()[]<>,;:@!|+-*/&^~=?%";

}  // namespace

std::string quoted(const token& t) {
  if (t.kind == token_kind::end) return "the end";
  const std::string_view text = t.text.substr(0, 40);
  std::string out = t.kind == token_kind::string ? "the string \"" : "'";
  for (const char c : text) out += c >= ' ' && c <= '~' ? c : '?';
  if (text.size() < t.text.size()) out += "...";
  return out += t.kind == token_kind::string ? '"' : '\'';
}

void lexer::skip_blanks() {
  while (at_ != end_) {
    if (is_of(*at_, blank)) {
      ++at_;
    } else if (*at_ == '\n') {
      ++at_;
      ++line_;
    } else if (*at_ != '/' || !skip_comment()) {
      return;
    }
  }
}

bool lexer::skip_comment() {
  if (end_ - at_ < 2) return false;
  if (at_[1] == '/') {
    const void* newline = std::memchr(at_, '\n', end_ - at_);
    at_ = newline ? static_cast<const char*>(newline) : end_;
    return true;
  }
  if (at_[1] != '*') return false;
  const std::uint32_t opened = line_;
  for (at_ += 2; end_ - at_ >= 2; ++at_) {
    if (at_[0] == '*' && at_[1] == '/') {
      at_ += 2;
      return true;
    }
    if (*at_ == '\n') ++line_;
  }
  throw parse_error(opened, "the comment that starts here is never closed");
}

void lexer::skip_quoted() {
  const std::uint32_t opened = line_;
  for (++at_; at_ != end_ && *at_ != '"'; ++at_) {
    // File names are printed, and must not send control characters to a terminal.
    const auto c = static_cast<unsigned char>(*at_);
    if ((c < ' ' && c != '\t' && c != '\n') || c == 0x7F)
      throw parse_error(opened, "a string with a control character");
    if (c == '\n') throw parse_error(opened, "expected '\"' at the end of a string");
  }
  if (at_ == end_) throw parse_error(opened, "expected '\"' at the end of a string");
  ++at_;
}

std::string_view lexer::skip_block(std::uint32_t& first_line) {
  const char* const first = at_;
  const std::uint32_t opened = line_;
  first_line = opened;
  std::size_t depth = 1;
  while (at_ != end_) {
    const char c = *at_;
    if (!is_of(c, block_mark)) {
      ++at_;
    } else if (c == '"') {
      skip_quoted();
    } else if (c == '/') {
      if (!skip_comment()) ++at_;
    } else {
      ++at_;
      if (c == '\n') ++line_;
      if (c == '{') ++depth;
      if (c == '}' && --depth == 0) return {first, static_cast<std::size_t>(at_ - 1 - first)};
    }
  }
  throw parse_error(opened, "the '{' opened here is never closed");
}

token lexer::next() {
  skip_blanks();
  token t;
  t.line = line_;
  if (at_ == end_) return t;
  const char* const first = at_;
  const auto finish = [&](token_kind kind) {
    t.kind = kind;
    t.text = {first, static_cast<std::size_t>(at_ - first)};
    return t;
  };
  const char c = *at_;
  if (is_of(c, word_start) && (c != '%' || (end_ - at_ > 1 && is_of(at_[1], word_part)))) {
    for (++at_; at_ != end_; ++at_) {
      if (is_of(*at_, word_part) || *at_ == '.') continue;
      // "shared::cluster" is one word, but "label:" is a word and a mark.
      if (*at_ != ':' || end_ - at_ < 3 || at_[1] != ':' || !is_of(at_[2], word_part)) break;
      ++at_;
    }
    return finish(token_kind::word);
  }
  if (is_of(c, digit)) return number();
  if (c == '.') {
    for (++at_; at_ != end_ && is_of(*at_, word_part); ++at_) {
    }
    if (at_ - first == 1) throw parse_error(line_, "expected a name after '.'");
    return finish(token_kind::directive);
  }
  if (c == '"') {
    skip_quoted();
    t.kind = token_kind::string;
    t.text = {first + 1, static_cast<std::size_t>(at_ - first - 2)};
    return t;
  }
  ++at_;
  finish(token_kind::mark);
  if (c == '\0' || punctuation.find(c) == std::string_view::npos) {
    throw parse_error(line_, "no PTX token starts with " + quoted(t));
  }
  return t;
}

token lexer::number() {
  const char* const first = at_;
  const char* last = at_;
  bool decimal = true;  // digits only, so far
  while (last != end_ && is_of(*last, word_part)) decimal &= is_of(*last++, digit);
  const char second = last - first > 1 ? static_cast<char>(first[1] | 0x20) : '\0';
  if (*first == '0' && (second == 'f' || second == 'd')) return hexadecimal_float(first, last);
  if (*first == '0' && second == 'x') return based_integer(first + 2, last, 16);
  if (*first == '0' && second == 'b') return based_integer(first + 2, last, 2);
  if (last != end_ && *last == '.') return decimal_float(first);
  if (!decimal && std::memchr(first, 'e', last - first) != nullptr) return decimal_float(first);
  if (!decimal && std::memchr(first, 'E', last - first) != nullptr) return decimal_float(first);
  return based_integer(first, last, *first == '0' && last - first > 1 && first[1] != 'U' ? 8 : 10);
}

token lexer::based_integer(const char* digits, const char* last, unsigned base) {
  token t;
  t.kind = token_kind::integer;
  t.line = line_;
  t.text = {at_, static_cast<std::size_t>(last - at_)};
  const char* stop = last;
  if (stop > digits && stop[-1] == 'U') {
    t.is_unsigned = true;
    --stop;
  }
  const auto [read, problem] = std::from_chars(digits, stop, t.bits, static_cast<int>(base));
  if (problem == std::errc::result_out_of_range) {
    throw parse_error(line_, "the integer " + quoted(t) + " does not fit in 64 bits");
  }
  if (digits == stop || read != stop) throw parse_error(line_, "malformed number " + quoted(t));
  at_ = last;
  return t;
}

token lexer::hexadecimal_float(const char* first, const char* last) {
  token t;
  const bool wide = (first[1] | 0x20) == 'd';
  t.kind = wide ? token_kind::float64 : token_kind::float32;
  t.line = line_;
  t.text = {first, static_cast<std::size_t>(last - first)};
  const char* const digits = first + 2;
  const auto [read, problem] = std::from_chars(digits, last, t.bits, 16);
  if (problem != std::errc() || read != last || last - digits != (wide ? 16 : 8)) {
    throw parse_error(line_, std::string("expected ") + (wide ? "16" : "8") +
                                 " hexadecimal digits in the number " + quoted(t));
  }
  at_ = last;
  return t;
}

token lexer::decimal_float(const char* first) {
  token t;
  t.kind = token_kind::float64;
  t.line = line_;
  double value = 0;
  const auto [read, problem] = std::from_chars(first, end_, value);
  t.text = {first, static_cast<std::size_t>(read - first)};
  if (problem != std::errc() || (read != end_ && is_of(*read, word_part))) {
    throw parse_error(line_, "malformed number " + quoted(t));
  }
  std::memcpy(&t.bits, &value, sizeof value);
  at_ = read;
  return t;
}

}  // namespace stepwise::ptx
