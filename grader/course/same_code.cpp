// Splits C++ into words, numbers its names, and compares it with each step of a lab.
#include "grader/course/same_code.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "grader/course/source.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

// Words with a fixed meaning: code that differs in one of them is different code.
const std::set<std::string_view>& known_words() {
  static const std::set<std::string_view> words = {"alignas",
                                                   "alignof",
                                                   "asm",
                                                   "auto",
                                                   "bool",
                                                   "break",
                                                   "case",
                                                   "catch",
                                                   "char",
                                                   "class",
                                                   "const",
                                                   "consteval",
                                                   "constexpr",
                                                   "constinit",
                                                   "const_cast",
                                                   "continue",
                                                   "decltype",
                                                   "default",
                                                   "delete",
                                                   "do",
                                                   "double",
                                                   "dynamic_cast",
                                                   "else",
                                                   "enum",
                                                   "explicit",
                                                   "extern",
                                                   "false",
                                                   "float",
                                                   "for",
                                                   "friend",
                                                   "goto",
                                                   "if",
                                                   "inline",
                                                   "int",
                                                   "long",
                                                   "mutable",
                                                   "namespace",
                                                   "new",
                                                   "noexcept",
                                                   "nullptr",
                                                   "operator",
                                                   "private",
                                                   "protected",
                                                   "public",
                                                   "register",
                                                   "reinterpret_cast",
                                                   "return",
                                                   "short",
                                                   "signed",
                                                   "sizeof",
                                                   "static",
                                                   "static_assert",
                                                   "static_cast",
                                                   "struct",
                                                   "switch",
                                                   "template",
                                                   "this",
                                                   "throw",
                                                   "true",
                                                   "try",
                                                   "typedef",
                                                   "typename",
                                                   "union",
                                                   "unsigned",
                                                   "using",
                                                   "virtual",
                                                   "void",
                                                   "volatile",
                                                   "while",
                                                   "__global__",
                                                   "__device__",
                                                   "__host__",
                                                   "__shared__",
                                                   "__constant__",
                                                   "__restrict__",
                                                   "__forceinline__",
                                                   "__noinline__",
                                                   "__launch_bounds__",
                                                   "threadIdx",
                                                   "blockIdx",
                                                   "blockDim",
                                                   "gridDim",
                                                   "warpSize",
                                                   "x",
                                                   "y",
                                                   "z",
                                                   "w",
                                                   "atomicAdd",
                                                   "atomicMax",
                                                   "atomicMin",
                                                   "fmaf",
                                                   "dim3",
                                                   "float2",
                                                   "float4",
                                                   "int2",
                                                   "int4",
                                                   "uchar4"};
  return words;
}

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool goes_on(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The end of a raw string that begins at its quote: R"delimiter( ... )delimiter".
std::string end_of_raw(std::string_view text, std::size_t quote) {
  const auto open = text.find('(', quote);
  if (open == std::string_view::npos || open - quote > 17) return {};
  return ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
}

class words_of {
 public:
  explicit words_of(std::string_view text) : text_(text) {}

  std::string all() {
    while (at_ < text_.size()) step();
    return std::move(result_);
  }

 private:
  void step() {
    const char c = text_[at_];
    const std::string_view rest = text_.substr(at_);
    if (c == '\n') {
      begins_line_ = true;
      ++at_;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else if (rest.starts_with("\\\n")) {
      at_ += 2;
    } else if (rest.starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (rest.starts_with("/*")) {
      const auto end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else if (c == '#' && begins_line_) {
      directive();
    } else {
      begins_line_ = false;
      word(c);
    }
  }

  // Macros are code. Includes and compiler directives are not compared.
  void directive() {
    const auto end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = trimmed(text_.substr(at_ + 1, end - at_ - 1));
    const bool passed_over =
        line.starts_with("include") || line.starts_with("pragma") || line.starts_with("line");
    begins_line_ = false;
    at_ = passed_over ? end : at_ + 1;
    if (!passed_over) result_ += "#\n";
  }

  void word(char c) {
    const std::size_t begin = at_;
    if (begins_name(c)) {
      while (at_ < text_.size() && goes_on(text_[at_])) ++at_;
      const std::string_view name = text_.substr(begin, at_ - begin);
      const bool raw = at_ < text_.size() && text_[at_] == '"' && name.ends_with('R');
      if (raw) return raw_text();
      add(name_for(name));
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (at_ < text_.size() && (goes_on(text_[at_]) || text_[at_] == '.' || text_[at_] == '\''))
        ++at_;
      std::string number(text_.substr(begin, at_ - begin));
      std::erase(number, '\'');
      add(number);
    } else if (c == '"' || c == '\'') {
      for (++at_; at_ < text_.size() && text_[at_] != c && text_[at_] != '\n'; ++at_) {
        if (text_[at_] == '\\') ++at_;
      }
      at_ = std::min(at_ + 1, text_.size());
      add(std::string(text_.substr(begin, at_ - begin)));
    } else {
      ++at_;
      add(std::string(1, c));
    }
  }

  void raw_text() {
    const std::string end = end_of_raw(text_, at_);
    const auto found = end.empty() ? std::string_view::npos : text_.find(end, at_);
    const std::size_t begin = at_;
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
    add(std::string(text_.substr(begin, at_ - begin)));
  }

  std::string name_for(std::string_view name) {
    if (known_words().count(name) != 0) return std::string(name);
    const auto known = names_.try_emplace(std::string(name), names_.size()).first;
    return "$" + std::to_string(known->second);
  }

  void add(const std::string& one) { result_ += one + "\n"; }

  std::string_view text_;
  std::size_t at_ = 0;
  bool begins_line_ = true;
  std::map<std::string, std::size_t> names_;
  std::string result_;
};

}  // namespace

std::string code_without_names(std::string_view source) { return words_of(source).all(); }

std::vector<named_text> texts_of_steps(const fs::path& root, const lab& l) {
  std::vector<named_text> all;
  if (!l.is_worked) return all;
  for (const step& s : l.steps) {
    if (auto text = read_if_there(root / s.file)) all.push_back({s.name, *std::move(text)});
  }
  return all;
}

std::string published_step(const std::vector<named_text>& steps, std::string_view source) {
  const std::string code = code_without_names(source);
  if (code.empty()) return {};
  for (const named_text& s : steps) {
    if (code_without_names(s.text) == code) return s.name;
  }
  return {};
}

}  // namespace stepwise
