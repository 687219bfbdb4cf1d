// Reads the declarations of a source, and replaces initialisers.
#include "grader/course/constants.hpp"

#include <algorithm>

#include "common/source_map/source_tokens.hpp"
#include "grader/course/lab.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

// Goes through the declarations of a file and keeps the constants.
class declarations {
 public:
  explicit declarations(std::string_view source) : source_(source), tokens_(tokens_of(source)) {
    std::erase_if(tokens_, [](const source_token& t) { return !t.directive.empty(); });
  }

  std::vector<source_constant> constants() {
    while (at_ < tokens_.size()) declaration();
    return std::move(found_);
  }

 private:
  bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].is(text);
  }
  bool is_word(std::size_t i) const { return tokens_[i].what == source_token::kind::word; }
  bool opens(std::size_t i) const { return is(i, "(") || is(i, "[") || is(i, "{"); }

  // The index after the bracket that opens at i is closed.
  std::size_t after_bracket(std::size_t i) const {
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      if (opens(i)) ++depth;
      if ((is(i, ")") || is(i, "]") || is(i, "}")) && --depth == 0) return i + 1;
    }
    return i;
  }

  void declaration() {
    // A namespace's own brackets do not count, because its content is at file scope.
    if (is(at_, ";") || is(at_, "}")) {
      ++at_;
    } else if (const std::size_t inside = opened_namespace(); inside > 0) {
      at_ = inside;
    } else if (const std::size_t first = first_initialiser(); first > 0) {
      constants_from(first);
    } else {
      at_ = after_declaration(at_);
    }
  }

  // The index after the { of `namespace a::b {` or `extern "C" {`. 0 for any other token.
  std::size_t opened_namespace() const {
    std::size_t i = at_ + (is(at_, "inline") ? 1 : 0);
    if (is(i, "extern") && i + 1 < tokens_.size() &&
        tokens_[i + 1].what == source_token::kind::text) {
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
      if (is(i, ";") || is(i, "}") || is(i, "(") || is(i, "*") || is(i, "&") || is(i, "&&"))
        return 0;
      if (is(i, "constexpr") || is(i, "const")) constant = true;
      if (is(i, "[")) i = after_bracket(i) - 1;
    }
    return 0;
  }

  // `i` is the first = or {. Reads until the declaration's end.
  void constants_from(std::size_t i) {
    while (i < tokens_.size()) {
      const source_token& name = tokens_[i - 1];
      const bool in_braces = is(i, "{");
      const std::size_t first = i + 1;
      const std::size_t end = in_braces ? after_bracket(i) - 1 : end_of_initialiser(first);
      const bool is_whole = in_braces ? is(end, "}") : is(end, ";") || is(end, ",");
      // An array's name is before its bounds, and a closure is not a value.
      if (is_word(i - 1) && is_whole && first < end && !is(first, "[") &&
          tokens_[first].what != source_token::kind::text) {
        keep(name, tokens_[first].begin, tokens_[end - 1].end());
      }
      i = in_braces ? end + 1 : end;
      if (!is(i, ",")) break;
      i = next_initialiser(i + 1);
    }
    at_ = after_declaration(i);
  }

  // The = or { after the declarator at i.
  std::size_t next_initialiser(std::size_t i) const {
    while (i < tokens_.size() && !is(i, "=") && !is(i, "{") && !is(i, ";")) {
      i = is(i, "[") || is(i, "(") ? after_bracket(i) : i + 1;
    }
    return i;
  }

  // The end of the expression at i: a ; or a comma before another declarator. The comma in `pair<a,
  // b>::value` is not an end.
  std::size_t end_of_initialiser(std::size_t i) const {
    while (i < tokens_.size() && !is(i, ";")) {
      if (is(i, ",") && i + 2 < tokens_.size() && is_word(i + 1) &&
          (is(i + 2, "=") || is(i + 2, "{") || is(i + 2, "["))) {
        return i;
      }
      i = opens(i) ? after_bracket(i) : i + 1;
    }
    return i;
  }

  // A function ends with its body, any other declaration with a semicolon.
  std::size_t after_declaration(std::size_t i) const {
    bool function = false;
    while (i < tokens_.size()) {
      if (is(i, ";")) return i + 1;
      if (is(i, "}")) return i;  // of an enclosing namespace
      if (is(i, "(")) function = true;
      const bool body = is(i, "{") && function;
      i = opens(i) ? after_bracket(i) : i + 1;
      if (body) return i;
    }
    return i;
  }

  void keep(const source_token& name, std::size_t begin, std::size_t end) {
    found_.push_back({std::string(name.text), std::string(source_.substr(begin, end - begin)),
                      begin, end, name.line});
  }

  std::string_view source_;
  std::vector<source_token> tokens_;
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
