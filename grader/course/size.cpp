// Parses numbers, powers and lists of them, and checks that the problem supports the size.
#include "grader/course/size.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>

#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace

std::optional<std::int64_t> parse_number(std::string_view text) {
  const auto sign = text.find('^');
  if (sign == std::string_view::npos) return parse_integer(text);
  const auto base = parse_integer(text.substr(0, sign));
  const auto exponent = parse_integer(text.substr(sign + 1));
  if (!base || !exponent || *base < 1 || *exponent < 0) return {};
  if (*base == 1) return 1;
  std::int64_t value = 1;
  for (std::int64_t i = 0; i < *exponent; ++i) {
    if (value > std::numeric_limits<std::int64_t>::max() / *base) return {};
    value *= *base;
  }
  return value;
}

std::optional<std::vector<std::int64_t>> parse_numbers(std::string_view text) {
  std::vector<std::int64_t> all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('x', begin), text.size());
    const auto number = parse_number(text.substr(begin, end - begin));
    if (!number) return {};
    all.push_back(*number);
    begin = end + 1;
  }
  return all;
}

lab_size parse_size(const lab& l, const problem& p, std::string_view text,
                    const std::string& shown) {
  std::string with_x(text);
  std::replace(with_x.begin(), with_x.end(), ',', 'x');
  const auto size = parse_numbers(with_x);
  const std::size_t wanted = l.check.at(0).size();
  if (!size || size->size() != wanted) {
    throw failure(exit_code::usage,
                  fmt::format("{}: expected {} like {}", shown,
                              wanted == 1 ? "a number" : std::to_string(wanted) + " numbers",
                              size_text(l.check.back())));
  }
  try {
    p.work(*size);
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, fmt::format("{}: {}", shown, error.what()));
  }
  return *size;
}

}  // namespace stepwise
