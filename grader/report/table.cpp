// Distributes the width among columns, drops optional ones, and draws bars in eighths of a block.
#include "grader/report/table.hpp"

#include <algorithm>
#include <cmath>

#include "grader/report/text.hpp"

namespace stepwise {
namespace {

constexpr std::size_t gap = 2;  // columns between columns
constexpr std::size_t least_flexible = 12, least_optional = 24;

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t used = display_width(text);
  const std::string blanks(width > used ? width - used : 0, ' ');
  return right ? blanks + text : text + blanks;
}

std::string without_trailing_blanks(std::string text) {
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string drawn_bar(double eighths, bool unicode) {
  if (!unicode) return std::string(static_cast<std::size_t>(std::max(1.0, eighths / 8)), '#');
  static constexpr const char* parts[] = {"",       "\u258f", "\u258e", "\u258d",
                                          "\u258c", "\u258b", "\u258a", "\u2589"};
  const auto count = static_cast<std::size_t>(std::max(1.0, eighths));
  std::string text;
  for (std::size_t i = 0; i < count / 8; ++i) text += "\u2588";
  return text + parts[count % 8];
}

}  // namespace

std::vector<std::string> table_lines(const std::vector<column>& wanted_columns,
                                     const std::vector<std::vector<cell>>& wanted_rows,
                                     const terminal_style& style) {
  std::vector<column> columns = wanted_columns;
  std::vector<std::vector<cell>> rows = wanted_rows;
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t width = display_width(columns[c].title);
    for (const auto& row : rows) width = std::max(width, display_width(row.at(c).text));
    widths.push_back(width);
  }
  std::size_t total = gap * (columns.size() - 1);
  for (const auto width : widths) total += width;
  const auto limit = static_cast<std::size_t>(style.width);
  for (std::size_t c = 0; c < columns.size() && total > limit; ++c) {
    if (!columns[c].flexible) continue;
    const std::size_t least = std::min(least_flexible, widths[c]);
    const std::size_t width = std::max(least, widths[c] - std::min(widths[c], total - limit));
    if (columns[c].optional && width < std::min(least_optional, widths[c])) {
      total -= widths[c] + gap;
      const auto at = static_cast<std::ptrdiff_t>(c);
      columns.erase(columns.begin() + at);
      widths.erase(widths.begin() + at);
      for (auto& row : rows) row.erase(row.begin() + at);
      break;
    }
    total -= widths[c] - width;
    widths[c] = width;
  }
  std::vector<std::string> lines;
  const auto add = [&](const auto& text_of, const auto& tone_of) {
    std::string line;
    std::vector<std::string> pieces;  // of the last column
    if (columns.back().wraps) pieces = wrapped(text_of(columns.size() - 1), widths.back());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const bool is_wrapped = pieces.size() > 1 && c + 1 == columns.size();
      const std::string text =
          is_wrapped ? pieces[0] : shortened(text_of(c), widths[c], style.ellipsis());
      const std::size_t used = display_width(text);
      const std::string blanks(widths[c] - std::min(widths[c], used), ' ');
      const bool last = c + 1 == columns.size();
      if (columns[c].right) line += blanks;
      line += style.paint(tone_of(c), text);
      if (!columns[c].right && !last) line += blanks;
      if (!last) line.append(gap, ' ');
    }
    lines.push_back(without_trailing_blanks(std::move(line)));
    const std::string indent(total - widths.back(), ' ');
    for (std::size_t p = 1; p < pieces.size(); ++p)
      lines.push_back(indent + style.paint(tone_of(columns.size() - 1), pieces[p]));
  };
  add([&](std::size_t c) { return columns[c].title; }, [](std::size_t) { return tone::dim; });
  std::string rule;
  for (std::size_t i = 0; i < std::min(total, limit); ++i) rule += style.unicode ? "\u2500" : "-";
  lines.push_back(style.paint(tone::dim, rule));
  for (const auto& row : rows) {
    add([&](std::size_t c) { return row[c].text; }, [&](std::size_t c) { return row[c].t; });
  }
  return lines;
}

std::string meter(double share, std::size_t cells, const terminal_style& style) {
  const auto full =
      static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(cells));
  std::string text;
  for (std::size_t i = 0; i < cells; ++i)
    text += i < full ? (style.unicode ? "█" : "#") : (style.unicode ? "░" : ".");
  return text;
}

std::vector<std::string> bar_lines(const std::vector<bar>& bars, const terminal_style& style) {
  std::size_t label_width = 0, text_width = 0;
  double largest = 0;
  for (const auto& b : bars) {
    label_width = std::max(label_width, display_width(b.label));
    text_width = std::max(text_width, display_width(b.text));
    if (std::isfinite(b.value)) largest = std::max(largest, b.value);
  }
  const std::size_t fixed = label_width + text_width + 2 * gap;
  const auto limit = static_cast<std::size_t>(style.width);
  const std::size_t room = limit > fixed + 8 ? limit - fixed : 8;
  std::vector<std::string> lines;
  for (const auto& b : bars) {
    std::string line = padded(b.label, label_width, false) + std::string(gap, ' ');
    if (b.value > 0 && std::isfinite(b.value) && largest > 0) {
      const double eighths = std::round(8 * static_cast<double>(room) * b.value / largest);
      line += style.paint(b.t, drawn_bar(eighths, style.unicode)) + std::string(gap, ' ');
    }
    lines.push_back(without_trailing_blanks(line + b.text));
  }
  return lines;
}

}  // namespace stepwise
