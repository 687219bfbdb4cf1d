// Goes through the source once, and keeps track of the current line and directive.
#include "common/source_map/source_tokens.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace stepwise {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_number(char c) { return in_word(c) || c == '.' || c == '\''; }

class scanner {
 public:
  explicit scanner(std::string_view source) : source_(source) {}

  std::vector<source_token> all() {
    while (at_ < source_.size()) step();
    return std::move(tokens_);
  }

 private:
  bool starts(std::string_view text) const { return source_.substr(at_).starts_with(text); }

  std::size_t find_end(std::size_t from, bool (*belongs)(char)) const {
    while (from < source_.size() && belongs(source_[from])) ++from;
    return from;
  }
  std::size_t find_after(std::string_view text, std::size_t from) const {
    const auto found = source_.find(text, from);
    return found == std::string_view::npos ? source_.size() : found + text.size();
  }

  void advance_to(std::size_t end) {
    const std::string_view passed = source_.substr(at_, end - at_);
    line_ += static_cast<int>(std::count(passed.begin(), passed.end(), '\n'));
    at_ += passed.size();
  }

  void step() {
    const char c = source_[at_];
    if (c == '\n') {
      begins_line_ = true;
      directive_ = {};
      advance_to(at_ + 1);
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      advance_to(at_ + 1);
    } else if (starts("\\\n")) {
      advance_to(at_ + 2);
    } else if (starts("//")) {
      advance_to(end_of_line());
    } else if (starts("/*")) {
      advance_to(find_after("*/", at_ + 2));
    } else {
      if (c == '#' && begins_line_) directive_ = name_of_directive();
      begins_line_ = false;
      one_token(c);
    }
  }

  // The end of the line, which a backslash extends by the next line.
  std::size_t end_of_line() const {
    auto end = source_.find('\n', at_);
    while (end != std::string_view::npos && source_[end - 1] == '\\')
      end = source_.find('\n', end + 1);
    return std::min(end, source_.size());
  }

  std::string_view name_of_directive() const {
    const auto begin = std::min(source_.find_first_not_of(" \t", at_ + 1), source_.size());
    const auto end = find_end(begin, in_word);
    return begin < end ? source_.substr(begin, end - begin) : source_.substr(at_, 1);
  }

  void one_token(char c) {
    using enum source_token::kind;
    if (is_digit(c)) return add(number, find_end(at_, in_number));
    if (c == '"' || c == '\'') return add(text, end_of_literal(c));
    if (in_word(c)) {
      const std::size_t end = find_end(at_, in_word);
      const std::string_view name = source_.substr(at_, end - at_);
      const bool raw = name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R";
      if (!raw || !source_.substr(end).starts_with('"')) return add(word, end);
      at_ = end;
      return add(text, end_of_raw_string());
    }
    const bool with_equals = std::string_view("=<>!+-*/%&|^").find(c) != std::string_view::npos &&
                             source_.substr(at_ + 1).starts_with('=');
    add(sign, at_ + (with_equals || starts("&&") || starts("||") ? 2 : 1));
  }

  std::size_t end_of_literal(char quote) const {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) {
      if (source_[end] == '\n') return end;
      end += source_[end] == '\\' ? 2 : 1;
    }
    return std::min(end + 1, source_.size());
  }

  // The end of R"delimiter( ... )delimiter". The delimiter has at most 16 characters.
  std::size_t end_of_raw_string() const {
    const auto open = source_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 17) return source_.size();
    return find_after(")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"", open);
  }

  void add(source_token::kind what, std::size_t end) {
    tokens_.push_back({what, source_.substr(at_, end - at_), at_, line_, directive_});
    advance_to(end);
  }

  std::string_view source_, directive_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool begins_line_ = true;
  std::vector<source_token> tokens_;
};

}  // namespace

std::vector<source_token> tokens_of(std::string_view source) { return scanner(source).all(); }

}  // namespace stepwise
