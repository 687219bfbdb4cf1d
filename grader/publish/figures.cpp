// SVG with a viewBox, which scales to any width. The page defines the colours.
#include "grader/publish/figures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace stepwise::publish {
namespace {

constexpr std::size_t ranges = 12;

std::string begin(double width, double height, const std::string& what) {
  return fmt::format(
      "<svg viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"{}\" "
      "xmlns=\"http://www.w3.org/2000/svg\">\n",
      width, height, what);
}

std::string number(double value) {
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

}  // namespace

std::string bars_svg(const std::vector<bar>& all, const std::string& what) {
  constexpr double row = 24, left = 120, width = 360;
  std::size_t most = 1;
  for (const auto& b : all) most = std::max(most, b.count);
  std::string svg = begin(width, row * static_cast<double>(all.size()) + 4, what);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double y = row * static_cast<double>(i) + 4;
    const double length =
        (width - left - 50) * static_cast<double>(all[i].count) / static_cast<double>(most);
    svg += fmt::format(
        "<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"end\">{}</text>"
        "<rect class=\"{}\" x=\"{:g}\" y=\"{:g}\" width=\"{:.1f}\" height=\"16\"/>"
        "<text x=\"{:.1f}\" y=\"{:g}\">{}</text>\n",
        left - 8, y + 13, all[i].label, all[i].tone, left, y, std::max(length, 1.0),
        left + std::max(length, 1.0) + 6, y + 13, all[i].count);
  }
  return svg + "</svg>\n";
}

std::string distribution_svg(const std::vector<double>& values, double goal,
                             const std::string& unit, const std::string& what, double low,
                             double high) {
  constexpr double width = 360, height = 152, base = 118, left = 8;
  if (values.empty()) return {};
  low = std::min(low, *std::min_element(values.begin(), values.end()));
  high = std::max(high, *std::max_element(values.begin(), values.end()));
  if (goal > 0) low = std::min(low, goal), high = std::max(high, goal);
  if (high <= low) high = low + std::max(1e-3, std::abs(low) * 0.1);
  std::size_t counts[ranges] = {};
  for (const double v : values) {
    const auto at = static_cast<std::size_t>((v - low) / (high - low) * ranges);
    ++counts[std::min(at, ranges - 1)];
  }
  const double most = static_cast<double>(*std::max_element(counts, counts + ranges));
  const double step = (width - 2 * left) / ranges;
  std::string svg = begin(width, height, what);
  for (std::size_t i = 0; i < ranges; ++i) {
    if (counts[i] == 0) continue;
    const double tall = 90 * static_cast<double>(counts[i]) / most;
    const double x = left + step * static_cast<double>(i);
    svg += fmt::format(
        "<rect class=\"plain\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
        x + 1, base - tall, step - 2, tall, x + step / 2, base - tall - 4, counts[i]);
  }
  svg += fmt::format("<line class=\"axis\" x1=\"{0:g}\" y1=\"{1:g}\" x2=\"{2:g}\" y2=\"{1:g}\"/>\n",
                     left, base, width - left);
  svg += fmt::format("<text x=\"{:g}\" y=\"{:g}\">{}{}</text>", left, base + 18, number(low), unit);
  svg += fmt::format("<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"end\">{}{}</text>\n", width - left,
                     base + 18, number(high), unit);
  if (goal > 0) {
    const double x = left + (width - 2 * left) * (goal - low) / (high - low);
    const char* anchor = x < 60 ? "start" : x > width - 60 ? "end" : "middle";
    svg += fmt::format(
        "<line class=\"goal\" x1=\"{0:.1f}\" y1=\"14\" x2=\"{0:.1f}\" y2=\"{1:g}\"/>"
        "<text x=\"{0:.1f}\" y=\"{2:g}\" text-anchor=\"{3}\">goal {4}{5}</text>\n",
        x, base + 6, base + 30, anchor, number(goal), unit);
  }
  return svg + "</svg>\n";
}

}  // namespace stepwise::publish
