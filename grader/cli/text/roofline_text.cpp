// Places roofs and points on logarithmic axes.
#include "grader/cli/text/roofline_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/cli/text/page.hpp"

namespace stepwise::cli {
namespace {

// Powers of ten that enclose the values to show.
struct decades {
  double first = 0, last = 1;  // exponents

  double place(double value) const {  // 0 to 1
    return std::clamp((std::log10(value) - first) / (last - first), 0.0, 1.0);
  }
  double value(double place) const { return std::pow(10, first + place * (last - first)); }
};

decades around(double least, double most) {
  decades d{std::floor(std::log10(least)), std::ceil(std::log10(most))};
  if (d.last <= d.first) d.last = d.first + 1;
  return d;
}

struct axes {
  decades x, y;
};

axes axes_of(const roofline& r) {
  double x_least = 1e300, x_most = 0, y_least = 1e300, y_most = r.peak;
  for (const roofline_point& p : r.points) {
    x_least = std::min(x_least, p.x);
    x_most = std::max(x_most, p.x);
    y_least = std::min(y_least, p.y);
    y_most = std::max(y_most, p.y);
  }
  for (const roof& one : r.roofs)
    if (r.peak > 0) x_most = std::max(x_most, r.peak / one.slope);
  return {around(x_least / 2, 2 * x_most), around(y_least / 2, y_most)};
}

std::string power_text(double exponent) {
  return exponent >= -2 && exponent <= 3 ? fmt::format("{:g}", std::pow(10, exponent))
                                         : fmt::format("1e{:.0f}", exponent);
}

// Escapes a text for SVG, because a kernel's name may contain template arguments.
std::string escaped_xml(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return safe;
}

bool can_be_drawn(const roofline& r) { return !r.points.empty() && r.points[0].y > 0; }

std::string attained(const roofline& r, std::size_t n) {
  const roofline_point& p = r.points[n];
  for (std::size_t i = 0; i < r.roofs.size(); ++i)
    if (r.roofs[i].name.starts_with(p.name + " "))
      return fmt::format("{:.0f} % of its roof", 100 * p.y / r.ceiling(i, p.x));
  return "its roof is unknown";
}

}  // namespace

std::vector<std::string> roofline_lines(const roofline& r, const terminal_style& style) {
  page p(style);
  p.title(r.title);
  if (!can_be_drawn(r)) {
    p.paragraph("Nothing to draw: the kernels do no such operations or move no bytes.");
    return p.take();
  }
  constexpr int rows = 12, margin = 8;
  const int columns = std::clamp(style.width - margin - 4, 20, 72);
  const axes at = axes_of(r);
  std::vector<std::string> chart(rows, std::string(static_cast<std::size_t>(columns), ' '));
  const auto put = [&](double x, double y, char mark) {
    const auto column = std::lround(at.x.place(x) * (columns - 1));
    const auto row = std::lround((1 - at.y.place(y)) * (rows - 1));
    chart[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = mark;
  };
  for (std::size_t n = 0; n < r.roofs.size(); ++n)
    for (int column = 0; column < columns; ++column) {
      const double x = at.x.value(static_cast<double>(column) / (columns - 1));
      const double y = r.ceiling(n, x);
      if (y < std::pow(10, at.y.first)) continue;
      put(x, y, y == r.peak ? '-' : '/');
    }
  for (std::size_t n = 0; n < r.points.size(); ++n)
    put(r.points[n].x, r.points[n].y, static_cast<char>('A' + n));
  for (int row = 0; row < rows; ++row) {
    const std::string label = row == 0          ? power_text(at.y.last)
                              : row == rows - 1 ? power_text(at.y.first)
                                                : "";
    std::string line = fmt::format("  {:>6} |", label) + chart[static_cast<std::size_t>(row)];
    p.line(line.substr(0, line.find_last_not_of(' ') + 1));
  }
  const std::string first = power_text(at.x.first), last = power_text(at.x.last);
  p.line("         " + first +
         std::string(static_cast<std::size_t>(columns) - first.size() - last.size(), ' ') + last);
  p.paragraph(fmt::format("x axis: {}; y axis: {}", r.x_unit, r.y_unit), tone::dim);
  for (std::size_t n = 0; n < r.points.size(); ++n)
    p.paragraph(fmt::format("{}  {}: {:.3g} {}, {:.3g} {}; {}", static_cast<char>('A' + n),
                            r.points[n].name, r.points[n].x, r.x_unit, r.points[n].y, r.y_unit,
                            attained(r, n)),
                tone::plain, 3);
  std::string roofs;
  for (const roof& one : r.roofs) roofs += "/ " + one.name + "  ";
  if (r.peak > 0) roofs += fmt::format("- {}: {:.3g} {}", r.peak_name, r.peak, r.y_unit);
  p.paragraph(roofs, tone::dim);
  return p.take();
}

std::string roofline_svg(const std::vector<roofline>& all, const std::string& title) {
  constexpr int width = 420, height = 280, left = 64, top = 60, apart = 540;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>{}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{}\" y=\"24\" "
      "font-size=\"15\">{}</text>\n",
      static_cast<int>(all.size()) * apart, top + height + 60, escaped_xml(title), left,
      escaped_xml(title));
  int x0 = left;
  for (const roofline& r : all) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x0, top - 10, escaped_xml(r.title));
    if (can_be_drawn(r)) {
      const axes at = axes_of(r);
      const auto x = [&](double v) { return x0 + width * at.x.place(v); };
      const auto y = [&](double v) { return top + height * (1 - at.y.place(v)); };
      for (double e = at.x.first; e <= at.x.last; ++e)
        svg += fmt::format(
            "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#ddd\"/>\n"
            "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
            x(std::pow(10, e)), top, top + height, top + height + 16, power_text(e));
      for (double e = at.y.first; e <= at.y.last; ++e)
        svg += fmt::format(
            "<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\" stroke=\"#ddd\"/>\n"
            "<text x=\"{3}\" y=\"{1:.1f}\" text-anchor=\"end\">{4}</text>\n",
            x0, y(std::pow(10, e)), x0 + width, x0 - 4, power_text(e));
      svg +=
          fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n<text x=\"{}\" y=\"{}\">{}</text>\n", x0,
                      top + height + 34, r.x_unit, x0, top + height + 50, "y axis: " + r.y_unit);
      for (std::size_t n = 0; n < r.roofs.size(); ++n) {
        const double slope = r.roofs[n].slope, floor = std::pow(10, at.y.first);
        const double first = std::max(std::pow(10, at.x.first), floor / slope);
        const double last = std::pow(10, at.x.last);
        const double knee = r.peak > 0 ? std::min(last, r.peak / slope) : last;
        svg += fmt::format(
            "<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}\" fill=\"none\" "
            "stroke=\"#26a\"><title>{}</title></path>\n",
            x(first), y(r.ceiling(n, first)), x(knee), y(r.ceiling(n, knee)), x(last),
            y(r.ceiling(n, last)), r.roofs[n].name);
      }
      for (const roofline_point& one : r.points)
        svg += fmt::format(
            "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"4\" fill=\"#c33\"/>\n<text x=\"{2:.1f}\" "
            "y=\"{1:.1f}\">{3}</text>\n",
            x(one.x), y(one.y), x(one.x) + 7, one.name);
    }
    x0 += apart;
  }
  return svg + "</svg>\n";
}

json roofline_json(const roofline& r) {
  json j = {{"title", r.title},       {"x_unit", r.x_unit},
            {"y_unit", r.y_unit},     {"peak", r.peak > 0 ? json(r.peak) : json(nullptr)},
            {"roofs", json::array()}, {"points", json::array()}};
  for (const roof& one : r.roofs) j["roofs"].push_back({{"name", one.name}, {"slope", one.slope}});
  for (const roofline_point& p : r.points)
    j["points"].push_back({{"name", p.name}, {"x", p.x}, {"y", p.y}});
  return j;
}

}  // namespace stepwise::cli
