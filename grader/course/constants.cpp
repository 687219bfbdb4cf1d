// Splits the source into tokens, reads its declarations, and replaces initialisers.
#include "grader/course/constants.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "grader/course/lab.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

struct token {
  enum class kind { word, number, text, sign } what = kind::sign;
  std::string_view text;
  std::size_t begin = 0;
  int line = 0;

  std::size_t end() const { return begin + text.size(); }
  bool is(std::string_view other) const { return text == other; }
  bool is_word() const { return what == kind::word; }
};

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_word(char c) { return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Splits a source into words, numbers, literals and signs. Skips comments and directives.
class scanner {
 public:
  explicit scanner(std::string_view source) : source_(source) {}

  std::vector<token> all() {
    while (at_ < source_.size()) {
      if (!skip_what_is_no_token()) one_token();
    }
    return std::move(tokens_);
  }

 private:
  char look(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  bool starts(std::string_view text) const { return source_.substr(at_).starts_with(text); }

  void advance_to(std::size_t end) {
    end = std::min(end, source_.size());
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }
  void advance_behind(std::string_view text, std::size_t from) {
    const auto found = source_.find(text, from);
    advance_to(found == std::string_view::npos ? source_.size() : found + text.size());
  }

  bool skip_what_is_no_token() {
    if (look() == '\n') {
      first_of_line_ = true;
      advance_to(at_ + 1);
    } else if (std::isspace(static_cast<unsigned char>(look())) != 0 || starts("\\\n")) {
      advance_to(at_ + (look() == '\\' ? 2 : 1));
    } else if (starts("//")) {
      skip_line();
    } else if (starts("/*")) {
      advance_behind("*/", at_ + 2);
    } else if (look() == '#' && first_of_line_) {
      skip_line();
    } else {
      return false;
    }
    return true;
  }

  // Skips to the line's end, and on if a backslash joins the next line.
  void skip_line() {
    std::size_t end = at_;
    do {
      end = source_.find('\n', end + 1);
    } while (end != std::string_view::npos && source_[end - 1] == '\\');
    advance_to(std::min(end, source_.size()));
  }

  void one_token() {
    first_of_line_ = false;
    const char c = look();
    if (begins_word(c)) {
      std::size_t end = at_;
      while (end < source_.size() && in_word(source_[end])) ++end;
      const std::string_view word = source_.substr(at_, end - at_);
      const bool raw = word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
      if (raw && end < source_.size() && source_[end] == '"') return raw_string(end);
      return add(token::kind::word, end);
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
        (c == '.' && std::isdigit(static_cast<unsigned char>(look(1))) != 0)) {
      return number();
    }
    if (c == '"' || c == '\'') return literal(c);
    // A declaration has a single "=". With another sign before it, it is an operator.
    std::size_t end = at_ + 1;
    if (std::string_view("=<>!+-*/%&|^").find(c) != std::string_view::npos && look(1) == '=') ++end;
    add(token::kind::sign, end);
  }

  // A number with digit separators, exponents and suffixes: 1'024, 0x1p-3, 1e+5f, 256u.
  void number() {
    std::size_t end = at_;
    while (end < source_.size()) {
      const char c = source_[end], before = end > at_ ? source_[end - 1] : '\0';
      const bool sign_of_exponent =
          (c == '+' || c == '-') && std::string_view("eEpP").find(before) != std::string_view::npos;
      const bool separator = c == '\'' && end + 1 < source_.size() && in_word(source_[end + 1]);
      if (!in_word(c) && c != '.' && !sign_of_exponent && !separator) break;
      ++end;
    }
    add(token::kind::number, end);
  }

  void literal(char quote) {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote && source_[end] != '\n') {
      end += source_[end] == '\\' ? 2 : 1;
    }
    add(token::kind::text, std::min(end + 1, source_.size()));
  }

  void raw_string(std::size_t quote) {
    const auto open = source_.find('(', quote);
    if (open == std::string_view::npos) return add(token::kind::text, source_.size());
    const std::string closing =
        ")" + std::string(source_.substr(quote + 1, open - quote - 1)) + "\"";
    const auto close = source_.find(closing, open);
    add(token::kind::text,
        close == std::string_view::npos ? source_.size() : close + closing.size());
  }

  void add(token::kind what, std::size_t end) {
    tokens_.push_back({what, source_.substr(at_, end - at_), at_, line_});
    advance_to(end);
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool first_of_line_ = true;
  std::vector<token> tokens_;
};

// Goes through the declarations of a file and keeps the constants.
class declarations {
 public:
  explicit declarations(std::string_view source)
      : source_(source), tokens_(scanner(source).all()) {}

  std::vector<source_constant> constants() {
    while (at_ < tokens_.size()) declaration();
    return std::move(found_);
  }

 private:
  bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].is(text);
  }
  bool opens(std::size_t i) const { return is(i, "(") || is(i, "[") || is(i, "{"); }

  // The index after the bracket that opens at i is closed.
  std::size_t behind_bracket(std::size_t i) const {
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      if (opens(i)) ++depth;
      if ((is(i, ")") || is(i, "]") || is(i, "}")) && --depth == 0) return i + 1;
    }
    return i;
  }

  void declaration() {
    // A namespace's own brackets do not count, since its content is at file scope.
    if (is(at_, ";") || is(at_, "}")) {
      ++at_;
    } else if (const std::size_t inside = opened_namespace(); inside > 0) {
      at_ = inside;
    } else if (const std::size_t first = first_initialiser(); first > 0) {
      constants_from(first);
    } else {
      at_ = behind_declaration(at_);
    }
  }

  // The index after the { of `namespace a::b {` or `extern "C" {`. 0 for any other token.
  std::size_t opened_namespace() const {
    std::size_t i = at_ + (is(at_, "inline") ? 1 : 0);
    if (is(i, "extern") && i + 1 < tokens_.size() && tokens_[i + 1].what == token::kind::text) {
      return is(i + 2, "{") ? i + 3 : 0;
    }
    if (!is(i, "namespace")) return 0;
    for (++i; i < tokens_.size() && !is(i, ";") && !is(i, "="); ++i) {
      if (is(i, "{")) return i + 1;
    }
    return 0;
  }

  // The = or { of the first constant that is declared here. 0 for any other declaration.
  std::size_t first_initialiser() const {
    for (const auto* other : {"template", "using", "typedef", "struct", "class", "union", "enum"}) {
      if (is(at_, other)) return 0;
    }
    bool constant = false;
    for (std::size_t i = at_; i < tokens_.size(); ++i) {
      if (is(i, "=") || is(i, "{")) return constant && i > at_ ? i : 0;
      if (is(i, ";") || is(i, "}") || is(i, "(") || is(i, "*") || is(i, "&")) return 0;
      if (is(i, "constexpr") || is(i, "const")) constant = true;
      if (is(i, "[")) i = behind_bracket(i) - 1;
    }
    return 0;
  }

  // `i` is the first = or {. Reads until the declaration's end.
  void constants_from(std::size_t i) {
    while (i < tokens_.size()) {
      const token& name = tokens_[i - 1];
      const bool in_braces = is(i, "{");
      const std::size_t first = i + 1;
      const std::size_t end = in_braces ? behind_bracket(i) - 1 : end_of_initialiser(first);
      const bool is_whole = in_braces ? is(end, "}") : is(end, ";") || is(end, ",");
      // An array's name is before its bounds, and a closure is not a value.
      if (name.is_word() && is_whole && first < end && !is(first, "[") &&
          tokens_[first].what != token::kind::text) {
        keep(name, tokens_[first].begin, tokens_[end - 1].end());
      }
      i = in_braces ? end + 1 : end;
      if (!is(i, ",")) break;
      i = next_initialiser(i + 1);
    }
    at_ = behind_declaration(i);
  }

  // The = or { after the declarator at i.
  std::size_t next_initialiser(std::size_t i) const {
    while (i < tokens_.size() && !is(i, "=") && !is(i, "{") && !is(i, ";")) {
      i = is(i, "[") || is(i, "(") ? behind_bracket(i) : i + 1;
    }
    return i;
  }

  // The end of the expression at i: a ; or a comma before another declarator. The comma in `pair<a,
  // b>::value` is not an end.
  std::size_t end_of_initialiser(std::size_t i) const {
    while (i < tokens_.size() && !is(i, ";")) {
      if (is(i, ",") && i + 2 < tokens_.size() && tokens_[i + 1].is_word() &&
          (is(i + 2, "=") || is(i + 2, "{") || is(i + 2, "["))) {
        return i;
      }
      i = opens(i) ? behind_bracket(i) : i + 1;
    }
    return i;
  }

  // A function ends with its body, any other declaration with a semicolon.
  std::size_t behind_declaration(std::size_t i) const {
    bool function = false;
    while (i < tokens_.size()) {
      if (is(i, ";")) return i + 1;
      if (is(i, "}")) return i;  // of an enclosing namespace
      if (is(i, "(")) function = true;
      const bool body = is(i, "{") && function;
      i = opens(i) ? behind_bracket(i) : i + 1;
      if (body) return i;
    }
    return i;
  }

  void keep(const token& name, std::size_t begin, std::size_t end) {
    found_.push_back({std::string(name.text), std::string(source_.substr(begin, end - begin)),
                      begin, end, name.line});
  }

  std::string_view source_;
  std::vector<token> tokens_;
  std::size_t at_ = 0;
  std::vector<source_constant> found_;
};

}  // namespace

std::vector<source_constant> constants_of(std::string_view source) {
  return declarations(source).constants();
}

const source_constant& find_constant(const std::vector<source_constant>& constants,
                                     std::string_view name, const std::string& origin) {
  const source_constant* found = nullptr;
  std::vector<std::string> names;
  for (const auto& c : constants) {
    names.push_back(c.name);
    if (c.name != name) continue;
    if (found != nullptr) {
      throw failure(exit_code::usage, origin + " declares " + c.name + " twice, in lines " +
                                          std::to_string(found->line) + " and " +
                                          std::to_string(c.line) + "; rename one of them");
    }
    found = &c;
  }
  if (found != nullptr) return *found;
  std::string message = origin + " has no constant \"" + std::string(name) + "\"";
  const std::string near = nearest(name, names);
  if (!near.empty()) message += "; did you mean \"" + near + "\"?";
  message += names.empty()
                 ? "\nit has no constants: declare one, like `constexpr int threads = 256;`"
                 : "\nits constants are";
  for (const auto& c : constants) message += "\n  " + c.name + " = " + c.value;
  throw failure(exit_code::usage, message);
}

std::string with_values(std::string_view source,
                        std::vector<std::pair<source_constant, std::string>> values) {
  std::sort(values.begin(), values.end(),
            [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
  std::string text;
  std::size_t at = 0;
  for (const auto& [constant, value] : values) {
    text += source.substr(at, constant.begin - at);
    text += value;
    const auto lines = std::count(constant.value.begin(), constant.value.end(), '\n');
    text.append(static_cast<std::size_t>(lines), '\n');
    at = constant.end;
  }
  return text += source.substr(at);
}

}  // namespace stepwise
