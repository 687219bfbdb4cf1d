// Splits the text at its signs, expands ranges and lists, and combines the values of all axes.
#include "grader/course/sweep_axis.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "grader/course/size.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

using numbers = std::vector<std::int64_t>;  // one number, or those of a size

constexpr std::string_view word_signs = "_:.+-";

[[noreturn]] void refuse_axis(std::string_view text, const std::string& why) {
  throw failure(exit_code::usage, "--over " + std::string(text) + ": " + why +
                                      "\nNAME=VALUES is like threads=32..1024 (doubling), "
                                      "offset=0..32+4 (adding 4),\nor items=1,2,4,8");
}

std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    all.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

struct range {
  numbers from, to;
  std::optional<std::int64_t> step;  // added; empty: doubling
};

range parse_range(std::string_view text, std::string_view part, std::size_t dots) {
  range r;
  std::string_view to = part.substr(dots + 2);
  if (const auto plus = to.find('+'); plus != std::string_view::npos) {
    r.step = parse_number(to.substr(plus + 1));
    to = to.substr(0, plus);
    if (!r.step || *r.step < 1)
      refuse_axis(text, "the number after + is the step and must be at least 1");
  }
  const auto first = parse_numbers(part.substr(0, dots)), last = parse_numbers(to);
  if (!first || !last || first->size() != last->size()) {
    refuse_axis(text, "\"" + std::string(part) + "\" is not a range of numbers");
  }
  r.from = *first;
  r.to = *last;
  for (std::size_t i = 0; i < r.from.size(); ++i) {
    if (r.from[i] > r.to[i]) refuse_axis(text, "a range must go upwards");
    if (!r.step && r.from[i] < 1) {
      refuse_axis(text,
                  std::to_string(r.from[i]) + " does not grow by doubling; write ..+1 to add 1");
    }
  }
  return r;
}

void add_range(const range& r, std::string_view text, std::vector<std::string>& values) {
  numbers now = r.from;
  const auto within = [&] {
    for (std::size_t i = 0; i < now.size(); ++i)
      if (now[i] > r.to[i]) return false;
    return true;
  };
  while (within()) {
    values.push_back(size_text(now));
    if (values.size() > most_configurations) {
      refuse_axis(text, "this is more than " + std::to_string(most_configurations) + " values");
    }
    for (auto& number : now) {
      const std::int64_t more = r.step ? *r.step : number;
      if (number > std::numeric_limits<std::int64_t>::max() - more) return;
      number += more;
    }
  }
}

bool is_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || word_signs.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool is_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

}  // namespace

sweep_axis parse_axis(std::string_view text) {
  const auto sign = text.find('=');
  if (sign == std::string_view::npos) refuse_axis(text, "= is missing");
  sweep_axis axis;
  axis.name = text.substr(0, sign);
  if (!is_name(axis.name)) refuse_axis(text, "\"" + axis.name + "\" is not a name");
  for (const auto part : parts(text.substr(sign + 1), ',')) {
    if (part.empty()) refuse_axis(text, "a value is missing");
    if (const auto dots = part.find(".."); dots != std::string_view::npos) {
      add_range(parse_range(text, part, dots), text, axis.values);
    } else if (const auto number = parse_numbers(part)) {
      axis.values.push_back(size_text(*number));
    } else if (is_word(part)) {
      axis.values.emplace_back(part);
    } else {
      refuse_axis(text, "\"" + std::string(part) + "\" is neither a number nor a word");
    }
  }
  for (auto value = axis.values.begin(); value != axis.values.end(); ++value) {
    if (std::find(axis.values.begin(), value, *value) != value) {
      refuse_axis(text, *value + " occurs twice");
    }
  }
  return axis;
}

std::vector<std::vector<std::string>> combinations(const std::vector<sweep_axis>& axes) {
  std::size_t count = 1;
  std::string product;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (axes[k].name == axes[i].name) {
        throw failure(exit_code::usage, "--over " + axes[i].name +
                                            " occurs twice; write several values as a list: " +
                                            axes[i].name + "=1,2,4");
      }
    }
    count *= axes[i].values.size();
    product += (product.empty() ? "" : " x ") + std::to_string(axes[i].values.size());
    if (count > most_configurations) {
      throw failure(exit_code::usage, product + " are " + std::to_string(count) +
                                          " configurations; at most " +
                                          std::to_string(most_configurations) +
                                          " are possible in one sweep; choose fewer values");
    }
  }
  std::vector<std::vector<std::string>> all = {{}};
  for (const auto& axis : axes) {
    std::vector<std::vector<std::string>> longer;
    for (const auto& one : all) {
      for (const auto& value : axis.values) {
        longer.push_back(one);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace stepwise
