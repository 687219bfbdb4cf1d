// Splits lines into words, and words into coordinates, with messages that name the line.
#include "common/lab/points.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace stepwise {
namespace {

constexpr std::string_view dividers = " \t,;\r";
constexpr std::size_t shown = 40;  // characters of a quoted line

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text.substr(0, shown))
    result += static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 127 ? '?' : c;
  return result + (text.size() > shown ? "...\"" : "\"");
}

std::string short_text(float value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", static_cast<double>(value));
  return text.data();
}

// Removes and returns the next word of a line; empty at the end.
std::string_view next_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(dividers), line.size());
  const std::size_t end = std::min(line.find_first_of(dividers, begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

float coordinate(std::string_view word, std::size_t line, float largest) {
  const auto refuse = [&](const std::string& why) -> float {
    throw points_error("line " + std::to_string(line) + ": " + quoted(word) + why);
  };
  const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
  float value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [after, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc::invalid_argument || after != end) return refuse(" is not a number");
  // The error is "out of range" for numbers that are too large for a float or that round to 0.
  if (error != std::errc{}) return refuse(" is outside the range of float");
  if (!std::isfinite(value)) return refuse(" is not a finite number");
  if (std::abs(value) > largest) {
    return refuse(" is more than the contract allows, " + short_text(largest));
  }
  return value;
}

}  // namespace

std::vector<point_3d> parse_points(std::string_view text, float largest) {
  std::vector<point_3d> points;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string_view line = whole.substr(0, whole.find('#'));
    std::array<std::string_view, 4> words;
    std::size_t count = 0;
    while (count < words.size() && !(words[count] = next_word(line)).empty()) ++count;
    if (count == 0) continue;
    if (count != 3) {
      throw points_error("line " + std::to_string(number) + ": expected three numbers, found " +
                         quoted(whole));
    }
    points.push_back({coordinate(words[0], number, largest), coordinate(words[1], number, largest),
                      coordinate(words[2], number, largest)});
  }
  if (points.empty()) throw points_error("it has no points");
  return points;
}

}  // namespace stepwise
