// Divides the key at its headings, and evaluates expressions by recursive descent.
#include "labs/tests/key.hpp"

#include <charconv>
#include <cmath>
#include <utility>

#include "grader/course/source.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

[[noreturn]] void wrong(const std::string& where, const std::string& what) {
  throw failure(exit_code::ours, where + ": " + what);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '_'; }

// "### R3 The title (2 points)"
key_answer parse_heading(std::string_view words, const std::string& where) {
  key_answer answer;
  const auto blank = words.find(' '), open = words.rfind(" (");
  if (blank == std::string_view::npos || open == std::string_view::npos || open <= blank)
    wrong(where, "expected \"### ID title (N points)\"");
  answer.id = words.substr(0, blank);
  answer.title = words.substr(blank + 1, open - blank - 1);
  const std::string_view points = words.substr(open + 2);
  const auto [end, error] =
      std::from_chars(points.data(), points.data() + points.size(), answer.points);
  const std::string_view unit(end, static_cast<std::size_t>(points.data() + points.size() - end));
  if (error != std::errc{} || answer.points < 1 || (unit != " point)" && unit != " points)"))
    wrong(where, "expected \"(N points)\" after the title");
  return answer;
}

checked_figure parse_figure(const std::string& line, const std::string& where) {
  const auto equals = line.rfind(" = ");
  if (equals == std::string::npos) wrong(where, "expected \"expression = figure\"");
  return {std::string(trimmed(line.substr(0, equals))),
          std::string(trimmed(line.substr(equals + 3))), where};
}

class expression_reader {
 public:
  expression_reader(std::string_view text, const figure_sources& sources, std::string where)
      : text_(text), sources_(sources), where_(std::move(where)) {}

  double all() {
    const double value = sum();
    if (peek() != '\0') fail("unexpected \"" + std::string(text_.substr(at_)) + "\"");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    wrong(where_, "\"" + std::string(text_) + "\": " + what);
  }
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  double sum() {
    double value = product();
    while (peek() == '+' || peek() == '-') {
      const bool is_plus = take('+');
      if (!is_plus) take('-');
      const double other = product();
      value += is_plus ? other : -other;
    }
    return value;
  }
  double product() {
    double value = power();
    while (peek() == '*' || peek() == '/') {
      const bool is_times = take('*');
      if (!is_times) take('/');
      const double other = power();
      value = is_times ? value * other : value / other;
    }
    return value;
  }
  double power() {
    const double value = atom();
    return take('^') ? std::pow(value, power()) : value;
  }
  double atom() {
    if (take('-')) return -atom();
    if (take('(')) {
      const double value = sum();
      if (!take(')')) fail("a parenthesis is not closed");
      return value;
    }
    const char c = peek();
    if (is_digit(c)) return number();
    if (is_name(c)) return call();
    fail("expected a number or a name at \"" + std::string(text_.substr(at_)) + "\"");
  }
  double number() {
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail("not a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  double call() {
    const auto begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (!take('(')) fail("\"" + name + "\" needs parentheses");
    if (const auto found = sources_.find(name); found != sources_.end())
      return found->second(words());
    std::vector<double> values;
    do values.push_back(sum());
    while (take(','));
    if (!take(')')) fail("a parenthesis is not closed");
    return of_numbers(name, values);
  }
  // The words between the parentheses of a source.
  std::vector<std::string> words() {
    const auto close = text_.find(')', at_);
    if (close == std::string_view::npos) fail("a parenthesis is not closed");
    std::vector<std::string> all;
    for (std::string_view rest = text_.substr(at_, close - at_);;) {
      const auto comma = rest.find(',');
      all.emplace_back(trimmed(rest.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    at_ = close + 1;
    return all;
  }
  double of_numbers(const std::string& name, const std::vector<double>& values) const {
    const double first = values[0], last = values.back();
    if (values.size() == 1) {
      if (name == "log2") return std::log2(first);
      if (name == "sqrt") return std::sqrt(first);
      if (name == "floor") return std::floor(first);
      if (name == "ceil") return std::ceil(first);
    }
    if (values.size() == 2) {
      if (name == "min") return std::min(first, last);
      if (name == "max") return std::max(first, last);
    }
    fail("there is no source \"" + name + "\" of " + std::to_string(values.size()) + " numbers");
  }

  std::string_view text_;
  const figure_sources& sources_;
  std::string where_;
  std::size_t at_ = 0;
};

const std::map<std::string, double, std::less<>>& units() {
  static const std::map<std::string, double, std::less<>> all = {
      {"", 1},        {"x", 1},     {"%", 1e-2}, {"s", 1},    {"ms", 1e-3},     {"us", 1e-6},
      {"ns", 1e-9},   {"bytes", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},      {"GB/s", 1e9},
      {"TB/s", 1e12}, {"G", 1e9},   {"M", 1e6},  {"T", 1e12}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}};
  return all;
}

}  // namespace

std::vector<key_answer> parse_key(std::string_view text, const std::string& origin) {
  std::vector<key_answer> all;
  std::string section;
  bool checked = false;
  std::size_t number = 0;
  for (const auto& line : split_lines(text)) {
    const std::string where = origin + ":" + std::to_string(++number);
    if (line == "```checked") {
      if (all.empty()) wrong(where, "figures before the first answer");
      checked = true;
    } else if (checked && line == "```") {
      checked = false;
    } else if (checked) {
      all.back().figures.push_back(parse_figure(line, where));
    } else if (line.starts_with("## ")) {
      section = trimmed(line.substr(3));
    } else if (line.starts_with("### ")) {
      all.push_back(parse_heading(std::string_view(line).substr(4), where));
      all.back().section = section;
    } else if (!all.empty()) {
      all.back().text += line + "\n";
    }
  }
  if (checked) wrong(origin, "a block of figures has no end");
  return all;
}

std::vector<checked_figure> figures_in_comments(std::string_view text, const std::string& origin) {
  std::vector<checked_figure> all;
  bool checked = false;
  std::size_t number = 0;
  for (const auto& line : split_lines(text)) {
    const std::string where = origin + ":" + std::to_string(++number);
    if (line == "<!-- checked") {
      checked = true;
    } else if (checked && line == "-->") {
      checked = false;
    } else if (checked) {
      all.push_back(parse_figure(line, where));
    }
  }
  if (checked) wrong(origin, "a comment with figures has no end");
  return all;
}

double value_of(std::string_view expression, const figure_sources& sources,
                const std::string& where) {
  return expression_reader(expression, sources, where).all();
}

bool is_rounded(double value, std::string_view literal, const std::string& where) {
  double shown = 0;
  const auto [end, error] = std::from_chars(literal.data(), literal.data() + literal.size(), shown);
  const std::string_view digits(literal.data(), static_cast<std::size_t>(end - literal.data()));
  const std::string_view unit = trimmed(literal.substr(digits.size()));
  const auto found = units().find(unit);
  if (error != std::errc{} || found == units().end())
    wrong(where, "\"" + std::string(literal) + "\" is not a number with a known unit");
  const auto point = digits.find('.');
  const auto decimals =
      point == std::string_view::npos ? 0 : static_cast<int>(digits.size() - point) - 1;
  const double half = 0.5 * std::pow(10, -decimals);
  return std::abs(value / found->second - shown) <= half * (1 + 1e-6);
}

}  // namespace stepwise
