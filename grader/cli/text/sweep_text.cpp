// Chooses the columns that fit, and draws matrices, bars and charts of occupancy.
#include "grader/cli/text/sweep_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>

#include "common/report/profile_text.hpp"
#include "grader/cli/text/figures_text.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {
namespace {

constexpr std::size_t gap = 2;  // between columns, as in tables

// "3.09 to 3.11 ms", "996 us to 1.01 ms"
std::string interval_text(const interval& range_ms) {
  std::string low = time_text(range_ms.low);
  const std::string high = time_text(range_ms.high);
  const auto unit = low.find(' ');
  if (high.ends_with(low.substr(unit))) low.resize(unit);
  return low + " to " + high;
}

// "warps+regs+blocks": a column is narrow, so sentences below the table spell out the limits.
std::string short_limits(const occupancy& o) {
  std::string text;
  const auto add = [&](bool is, const char* what) {
    if (is) text += (text.empty() ? "" : "+") + std::string(what);
  };
  add(o.by_warps, "warps");
  add(o.by_registers, "regs");
  add(o.by_shared, "shared");
  add(o.by_blocks, "blocks");
  return text;
}

// A column and its importance. If there is no room, the least important columns are omitted.
struct wanted_column {
  column what;
  int matters = 0;  // 0: always shown
  std::vector<cell> cells;

  std::size_t width() const {
    std::size_t most = display_width(what.title);
    for (const auto& one : cells) most = std::max(most, display_width(one.text));
    return most;
  }
};

class sweep_columns {
 public:
  explicit sweep_columns(const sweep_view& view) : view_(view) {
    for (std::size_t i = 0; i < view.axes.size(); ++i) {
      const bool is_cap = view.axes[i].kind == axis_kind::registers;
      add(is_cap ? "cap" : view.axes[i].axis.name, 0,
          [i](const sweep_point& p) { return p.values[i]; });
    }
    add_outcome();
    add_resources();
    add_main_counter();
    if (view.timed()) add_times();
    if (!view.timed() || view.modelled()) add_counts();
  }

  std::vector<std::string> lines(const terminal_style& style) {
    while (width() > static_cast<std::size_t>(style.width)) {
      const auto least =
          std::max_element(columns_.begin(), columns_.end(),
                           [](const auto& a, const auto& b) { return a.matters < b.matters; });
      if (least->matters == 0) break;
      columns_.erase(least);
    }
    std::vector<column> titles;
    std::vector<std::vector<cell>> rows(view_.points.size());
    for (const auto& one : columns_) {
      titles.push_back(one.what);
      for (std::size_t r = 0; r < rows.size(); ++r) rows[r].push_back(one.cells[r]);
    }
    return table_lines(titles, rows, style);
  }

 private:
  using text_of_point = std::function<std::string(const sweep_point&)>;
  using text_of_kernel = std::function<std::string(const kernel_profile&)>;

  std::size_t width() const {
    std::size_t sum = 0;
    for (const auto& one : columns_) sum += one.width() + gap;
    return sum - gap;
  }

  wanted_column& add(const std::string& title, int matters, const text_of_point& text) {
    wanted_column made{{title, true}, matters, {}};
    for (const auto& point : view_.points)
      made.cells.push_back({text(point), point.found.ok() ? tone::plain : tone::bad});
    columns_.push_back(std::move(made));
    return columns_.back();
  }

  // Omitted if no point has a text.
  void add_if_any(const std::string& title, int matters, const text_of_point& text) {
    auto& made = add(title, matters, text);
    if (std::all_of(made.cells.begin(), made.cells.end(),
                    [](const auto& one) { return one.text.empty(); })) {
      columns_.pop_back();
    }
  }

  void add_kernel(const std::string& title, int matters, const text_of_kernel& text) {
    add_if_any(title, matters, [&](const sweep_point& p) {
      return p.found.ok() && p.main_kernel() != nullptr ? text(*p.main_kernel()) : std::string();
    });
  }

  void add_outcome() {
    if (std::all_of(view_.points.begin(), view_.points.end(),
                    [](const auto& p) { return p.found.ok(); })) {
      return;
    }
    add("", 0,
        [](const sweep_point& p) { return p.found.ok() ? "right" : std::string(outcome_name(p)); });
    columns_.back().what.right = false;
  }

  void add_resources() {
    add_if_any("grid", 3, [](const sweep_point& p) {
      const auto blocks = p.blocks();
      return p.found.ok() && blocks ? std::to_string(*blocks) : std::string();
    });
    add_kernel("block", 8, [](const auto& k) { return std::to_string(volume(k.block)); });
    add_kernel("registers", 1, [](const auto& k) {
      return k.registers == 0 ? std::string() : std::to_string(k.registers);
    });
    add_kernel("spilled", 0, [](const auto& k) {
      return k.spill_bytes == 0 ? std::string() : bytes_text(number(k.spill_bytes));
    });
    add_kernel("shared", 5, [](const auto& k) {
      const auto bytes = k.static_shared_bytes + k.dynamic_shared_bytes;
      return bytes == 0 ? std::string() : bytes_text(number(bytes));
    });
    add_if_any("occupancy", 0, [](const sweep_point& p) {
      const auto percent = occupancy_percent(p);
      return p.found.ok() && percent ? fmt::format("{:.0f} %", *percent) : std::string();
    });
    add_kernel("limit", 2, [](const auto& k) { return short_limits(k.fits); });
    if (columns_.back().what.title == "limit") columns_.back().what = {"limit", false};
  }

  void add_times() {
    add(view_.modelled() ? "modelled" : "time", 0, [&](const sweep_point& p) {
      return p.timed()                                ? time_text(p.time_ms())
             : p.found.ok() && !p.why_no_time.empty() ? "no time"
             : p.found.ok()                           ? "too slow"
                                                      : std::string();
    });
    add_if_any("recorded", 0, [](const sweep_point& p) {
      return p.recorded_ms ? time_text(*p.recorded_ms) : std::string();
    });
    add_if_any("95 % interval", 1, [](const sweep_point& p) {
      return p.measured() ? interval_text(p.time.range_ms) : std::string();
    });
    add("rate  ", 0, [&](const sweep_point& p) {
      const auto figure = figure_of(view_, p);
      return figure ? figure->text + (is_among_the_best(view_, p) ? " *" : "  ") : std::string();
    });
    mark_the_best();
  }

  void mark_the_best() {
    for (std::size_t r = 0; r < view_.points.size(); ++r) {
      if (!is_among_the_best(view_, view_.points[r])) continue;
      for (auto& one : columns_) one.cells[r].t = tone::good;
    }
  }

  void add_counts() {
    add_counter("instructions", view_.timed() ? 6 : 1, [](const profile_counts& c) {
      return count_text(number(c.all_instructions().warps));
    });
    add_counter("sectors/load", 6, [](const profile_counts& c) {
      return per(c.global_load.sectors, c.global_load.requests);
    });
    add_counter("sectors/store", 9, [](const profile_counts& c) {
      return per(c.global_store.sectors, c.global_store.requests);
    });
    add_counter("wavefronts/access", 7, [](const profile_counts& c) {
      wavefront_counts all = c.shared_load;
      for (const auto* part : {&c.shared_store, &c.shared_atomic, &c.shared_copy}) all += *part;
      return per(all.wavefronts, all.requests);
    });
    add_counter("lanes", 10, [](const profile_counts& c) {
      const auto n = c.all_instructions();
      return per(n.lanes, n.warps);
    });
  }

  void add_main_counter() {
    if (view_.counter == nullptr) return;
    add_if_any("counter", 0, [&](const sweep_point& p) {
      const auto figure = counted_figure(view_, p);
      return figure ? figure->text : std::string();
    });
  }

  static std::string per(std::uint64_t count, std::uint64_t base) {
    return base == 0 ? std::string() : fmt::format("{:.1f}", number(count) / number(base));
  }

  // The counter's total over all kernels of the call.
  void add_counter(const std::string& title, int matters,
                   const std::function<std::string(const profile_counts&)>& text) {
    add_if_any(title, matters, [&](const sweep_point& p) {
      if (!p.found.ok() || p.kernels.empty()) return std::string();
      profile_counts total;
      for (const auto& kernel : p.kernels) total += kernel.total;
      return text(total);
    });
  }

  const sweep_view& view_;
  std::vector<wanted_column> columns_;
};

// One eighth to a whole block, after a number in a matrix.
std::string level(double share) {
  static constexpr const char* blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                           "\u2585", "\u2586", "\u2587", "\u2588"};
  return std::string(" ") + blocks[std::clamp(static_cast<int>(8 * share), 0, 7)];
}

struct figures_of_points {
  std::vector<std::optional<chart_figure>> all;
  double most = 0;

  explicit figures_of_points(const sweep_view& view) {
    for (const auto& point : view.points) {
      all.push_back(figure_of(view, point));
      if (all.back()) most = std::max(most, all.back()->value);
    }
  }
};

// The axes with several values.
std::vector<std::size_t> long_axes(const sweep_view& view) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < view.axes.size(); ++i)
    if (view.axes[i].axis.values.size() > 1) found.push_back(i);
  return found;
}

// The first axis as rows, and the second as columns. Empty if the matrix is wider than the
// terminal.
std::vector<std::string> matrix(const sweep_view& view, const figures_of_points& figures,
                                const std::vector<std::size_t>& axes, const terminal_style& style) {
  const auto &down = view.axes[axes[0]].axis, &across = view.axes[axes[1]].axis;
  std::vector<column> columns = {{down.name, true}};
  for (const auto& value : across.values) {
    columns.push_back({(columns.size() == 1 ? across.name + " = " : "") + value, true});
  }
  std::vector<std::vector<cell>> rows;
  for (const auto& value : down.values) rows.push_back({{value, tone::strong}});
  // The last axis varies fastest, so the points come row by row.
  for (std::size_t i = 0; i < view.points.size(); ++i) {
    const auto& point = view.points[i];
    const auto& figure = figures.all[i];
    auto& row = rows[i / across.values.size()];
    if (!figure) {
      row.push_back({point.found.ok() ? "-" : std::string(outcome_name(point)),
                     point.found.ok() ? tone::dim : tone::bad});
      continue;
    }
    const bool best = is_among_the_best(view, point);
    std::string text = figure->text + (best ? " *" : "");
    if (style.unicode && figures.most > 0) text += level(figure->value / figures.most);
    row.push_back({text, best ? tone::good : tone::plain});
  }
  std::size_t width = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t most = display_width(columns[c].title);
    for (const auto& row : rows) most = std::max(most, display_width(row[c].text));
    width += most + gap;
  }
  if (width > static_cast<std::size_t>(style.width) + gap) return {};
  return table_lines(columns, rows, style);
}

}  // namespace

std::string_view outcome_name(const sweep_point& point) {
  return point.refused ? "REFUSED" : stepwise::name_of(point.found.what);
}

std::vector<std::string> sweep_table(const sweep_view& view, const terminal_style& style) {
  return sweep_columns(view).lines(style);
}

std::vector<std::string> sweep_chart(const sweep_view& view, const terminal_style& style) {
  const figures_of_points figures(view);
  if (std::none_of(figures.all.begin(), figures.all.end(), [](const auto& f) { return !!f; }))
    return {};
  std::vector<std::string> lines;
  const auto axes = long_axes(view);
  if (axes.size() == 2) lines = matrix(view, figures, axes, style);
  if (lines.empty()) {
    std::vector<bar> bars;
    for (std::size_t i = 0; i < view.points.size(); ++i) {
      const auto& point = view.points[i];
      const auto& figure = figures.all[i];
      const auto mark = is_among_the_best(view, point) ? tone::good : tone::place;
      bars.push_back({text_of(view.axes, point.values), figure ? figure->value : 0,
                      figure             ? figure->text
                      : point.found.ok() ? "-"
                                         : std::string(outcome_name(point)),
                      mark});
    }
    lines = bar_lines(bars, style);
  }
  std::vector<std::string> all;
  for (const auto& piece : wrapped(figure_title(view), static_cast<std::size_t>(style.width)))
    all.push_back(style.paint(tone::dim, piece));
  all.insert(all.end(), lines.begin(), lines.end());
  return all;
}

std::vector<std::string> occupancy_chart(const sweep_view& view, const terminal_style& style) {
  std::map<int, const sweep_point*> best;  // by percentage
  for (const auto& point : view.points) {
    const auto percent = occupancy_percent(point);
    if (!point.timed() || !percent) continue;
    if (point.size != view.points[0].size) return {};
    auto& there = best[static_cast<int>(*percent + 0.5)];
    if (there == nullptr || point.time_ms() < there->time_ms()) there = &point;
  }
  if (best.size() < 2) return {};
  std::vector<bar> bars;
  for (const auto& [percent, point] : best) {
    const auto figure = figure_of(view, *point);
    bars.push_back({fmt::format("{} %", percent), figure->value,
                    fmt::format("{}  {}", figure->text, text_of(view.axes, point->values)),
                    is_among_the_best(view, *point) ? tone::good : tone::place});
  }
  auto lines = bar_lines(bars, style);
  lines.insert(lines.begin(),
               style.paint(tone::dim, "the best rate at each theoretical occupancy"));
  return lines;
}

}  // namespace stepwise::cli
