// Lays out the limits, explains where simple division misleads, and draws the three curves.
#include "grader/cli/text/occupancy_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "grader/report/table.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {
namespace {

constexpr int curve_rows = 4, curve_columns = 64;

struct limit {
  const char* name;
  int blocks;
  std::string why;
};

std::string plural(std::uint64_t count, const char* thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string register_reason(const occupancy_study& s) {
  const block_room& r = s.room;
  if (s.block.registers == 0) return "no registers used";
  const int most = most_registers_of_thread(s.model.compute_capability());
  if (s.block.registers > static_cast<std::uint64_t>(most))
    return fmt::format("limit per thread: {}", most);
  const int all = s.model.registers_per_multiprocessor;
  if (r.of_blocks)
    return fmt::format("{} of {} per block, in units of {}", r.registers, all, r.register_unit);
  if (r.by_registers == 0) return fmt::format("limit per block: {}", s.model.registers_per_block);
  return fmt::format("{} of {} per block, {} per warp", r.registers, all, r.registers / r.warps);
}

std::string shared_reason(const occupancy_study& s) {
  if (s.room.by_shared == block_room::any_number) return "no shared memory used";
  if (s.room.by_shared == 0) return fmt::format("limit per block: {} bytes", s.block.most_shared);
  std::string text = fmt::format("{} of {} bytes per block", s.room.shared_bytes,
                                 s.model.shared_bytes_per_multiprocessor);
  if (const auto reserved = s.model.reserved_shared_bytes_per_block; reserved > 0)
    text += fmt::format(", {} of them reserved", reserved);
  return text;
}

std::array<limit, 4> limits_of(const occupancy_study& s) {
  const block_room& r = s.room;
  const bool too_large =
      s.block.threads > static_cast<std::uint64_t>(s.model.max_threads_per_block);
  return {{{"warps", r.by_warps,
            too_large ? fmt::format("limit per block: {} threads", s.model.max_threads_per_block)
                      : fmt::format("{} of {} per block", r.warps, s.most_warps())},
           {"registers", r.by_registers, register_reason(s)},
           {"shared memory", r.by_shared, shared_reason(s)},
           {"block slots", r.by_blocks, "the most blocks per multiprocessor"}}};
}

// The results of plain division where the hardware's allocation units or slots change them.
std::vector<std::string> theory_lines(const occupancy_study& s) {
  std::vector<std::string> lines;
  const block_room& r = s.room;
  const auto registers = static_cast<std::uint64_t>(s.model.registers_per_multiprocessor);
  const std::uint64_t of_warp = s.block.registers * static_cast<std::uint64_t>(s.model.warp_size);
  if (s.block.registers > 0 && r.by_registers > 0 && !r.of_blocks) {
    const std::uint64_t theoretical = registers / of_warp;
    const auto taken = static_cast<std::uint64_t>(r.registers / r.warps);
    const auto parts = static_cast<std::uint64_t>(r.partitions);
    const std::uint64_t held = registers / parts / taken * parts;
    if (theoretical != held)
      lines.push_back(fmt::format(
          "{} registers / {} per warp = {} warps. But registers are allocated in units of {}, and "
          "a warp's registers must fit in one of {} partitions: a warp takes {}, so {} warps fit.",
          registers, of_warp, theoretical, r.register_unit, parts, taken, held));
  }
  if (s.block.registers > 0 && r.by_registers > 0 && r.of_blocks) {
    const std::uint64_t theoretical = registers / (s.block.registers * s.block.threads);
    if (theoretical != static_cast<std::uint64_t>(r.by_registers))
      lines.push_back(
          fmt::format("{} registers / {} per block = {} blocks. But a block is allocated {}, in "
                      "units of {}, so {} fit.",
                      registers, s.block.registers * s.block.threads, theoretical, r.registers,
                      r.register_unit, r.by_registers));
  }
  if (s.block.shared_bytes > 0 && r.by_shared > 0) {
    const auto theoretical =
        static_cast<int>(s.model.shared_bytes_per_multiprocessor / s.block.shared_bytes);
    if (theoretical != r.by_shared)
      lines.push_back(
          fmt::format("{} bytes / {} per block = {} blocks. But a block takes {}, so {} fit.",
                      s.model.shared_bytes_per_multiprocessor, s.block.shared_bytes, theoretical,
                      r.shared_bytes, r.by_shared));
    if (r.by_shared > r.by_blocks && r.blocks() == r.by_blocks)
      lines.push_back(
          fmt::format("Shared memory has room for {} blocks, but there are only {} block slots.",
                      r.by_shared, r.by_blocks));
  }
  return lines;
}

std::string gain_text(const occupancy_study& s, const occupancy_gain& gain) {
  using by = decltype(occupancy_gain::what);
  const std::string then = fmt::format(": {} warps, {:.0f} %", gain.warps, s.percent(gain.warps));
  if (gain.what == by::threads) return fmt::format("blocks of {} threads", gain.to) + then;
  if (gain.what == by::registers) return plural(gain.to, "register") + " per thread" + then;
  return plural(gain.to, "byte") + " of shared memory per block" + then;
}

// There are as many columns as fit. Each column shows the warps at the last point that falls into
// it.
std::vector<int> columns_of(const std::vector<occupancy_point>& points) {
  const auto count = std::min<std::size_t>(points.size(), curve_columns);
  std::vector<int> columns(count);
  for (std::size_t i = 0; i < points.size(); ++i)
    columns[i * count / points.size()] = points[i].warps;
  return columns;
}

std::size_t column_at(const std::vector<occupancy_point>& points, std::uint64_t at) {
  std::size_t nearest = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (points[i].at <= at) nearest = i;
  return nearest * std::min<std::size_t>(points.size(), curve_columns) / points.size();
}

std::vector<std::string> curve_lines(const occupancy_study& s, const char* title,
                                     const std::vector<occupancy_point>& points, std::uint64_t here,
                                     const terminal_style& style) {
  static constexpr const char* eighths[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                            "\u2585", "\u2586", "\u2587", "\u2588"};
  std::vector<std::string> lines = {style.paint(tone::strong, title)};
  const auto columns = columns_of(points);
  for (int row = curve_rows - 1; row >= 0; --row) {
    std::string line = row == curve_rows - 1 ? "  100 % " : row == 0 ? "    0 % " : "        ";
    for (const int warps : columns) {
      const int level = std::clamp(8 * curve_rows * warps / s.most_warps() - 8 * row, 0, 8);
      line += style.unicode ? eighths[level] : level >= 4 ? "#" : " ";
    }
    lines.push_back(line);
  }
  const std::string first = std::to_string(points.front().at),
                    last = std::to_string(points.back().at);
  std::string axis(8 + columns.size(), ' ');
  const auto put = [&](std::size_t at, const std::string& text) {
    if (at + text.size() > axis.size()) axis.resize(at + text.size(), ' ');
    axis.replace(at, text.size(), text);
  };
  put(8, first);
  put(8 + columns.size() - std::min(columns.size(), last.size()), last);
  const std::string mark = "^" + std::to_string(here);
  const std::size_t at = 8 + column_at(points, here);
  lines.push_back(axis);
  lines.push_back(std::string(at, ' ') + style.paint(tone::note, mark));
  return lines;
}

json points_json(const std::vector<occupancy_point>& points, const char* axis) {
  json all = json::array();
  for (const auto& point : points) all.push_back({{axis, point.at}, {"warps", point.warps}});
  return all;
}

}  // namespace

std::vector<std::string> occupancy_lines(const occupancy_study& s, const terminal_style& style) {
  std::vector<std::string> lines;
  const int blocks = s.room.blocks();
  std::vector<std::vector<cell>> rows;
  for (const auto& l : limits_of(s)) {
    const tone t = l.blocks == blocks ? tone::note : tone::plain;
    rows.push_back({{l.name, t},
                    {l.blocks == block_room::any_number ? "any" : std::to_string(l.blocks), t},
                    {l.why, tone::dim}});
  }
  for (const auto& line :
       table_lines({{"limit"}, {"blocks", true}, {"why", false, true}}, rows, style))
    lines.push_back(line);
  lines.emplace_back();
  std::string by;
  for (const auto& l : limits_of(s))
    if (l.blocks == blocks) by += (by.empty() ? "" : " and ") + std::string(l.name);
  lines.push_back(
      style.paint(tone::strong, fmt::format("{}, {} of {} warps: {:.0f} %",
                                            plural(static_cast<unsigned>(blocks), "block"),
                                            s.warps(), s.most_warps(), s.percent(s.warps()))) +
      ", limited by " + by);
  const auto wrap = [&](const std::string& label, const std::string& text) {
    const auto parts = wrapped(text, static_cast<std::size_t>(style.width) - 10);
    for (std::size_t i = 0; i < parts.size(); ++i)
      lines.push_back(fmt::format("{:<10}", i == 0 ? label : "") + parts[i]);
  };
  for (const auto& gain : s.gains)
    wrap(&gain == &s.gains.front() ? "more with" : "", gain_text(s, gain));
  const auto theoretical = theory_lines(s);
  for (const auto& line : theoretical) wrap(&line == &theoretical.front() ? "note" : "", line);
  lines.emplace_back();
  const auto curve = [&](const char* title, const auto& points, std::uint64_t here) {
    for (auto& line : curve_lines(s, title, points, here, style)) lines.push_back(std::move(line));
  };
  curve("threads per block", s.by_threads, s.block.threads);
  curve("registers per thread", s.by_registers, s.block.registers);
  curve("shared-memory bytes per block", s.by_shared, s.block.shared_bytes);
  return lines;
}

json occupancy_json(const occupancy_study& s) {
  json limits = json::object(), by = json::array();
  for (const auto& l : limits_of(s)) {
    limits[l.name] = l.blocks == block_room::any_number ? json(nullptr) : json(l.blocks);
    if (l.blocks == s.room.blocks()) by.push_back(l.name);
  }
  json theoretical = json::array(), gains = json::array();
  for (const auto& line : theory_lines(s)) theoretical.push_back(line);
  for (const auto& gain : s.gains) gains.push_back(gain_text(s, gain));
  return {{"threads", s.block.threads},
          {"registers", s.block.registers},
          {"shared_bytes", s.block.shared_bytes},
          {"registers_of_block", s.room.registers},
          {"shared_bytes_of_block", s.room.shared_bytes},
          {"blocks", s.room.blocks()},
          {"warps", s.warps()},
          {"most_warps", s.most_warps()},
          {"percent", s.percent(s.warps())},
          {"limits", std::move(limits)},
          {"limited_by", std::move(by)},
          {"gains", std::move(gains)},
          {"theoretical", std::move(theoretical)},
          {"by_threads", points_json(s.by_threads, "threads")},
          {"by_registers", points_json(s.by_registers, "registers")},
          {"by_shared_bytes", points_json(s.by_shared, "shared_bytes")}};
}

std::string occupancy_svg(const occupancy_study& s, const std::string& title) {
  constexpr int width = 260, height = 160, left = 44, top = 56, apart = 320;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>{}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{}\" y=\"24\" "
      "font-size=\"15\">{}</text>\n",
      3 * apart, top + height + 44, title, left, title);
  const auto draw = [&](int number, const char* name, const std::vector<occupancy_point>& points,
                        std::uint64_t here) {
    const int x0 = left + number * apart;
    const double first = static_cast<double>(points.front().at);
    const double span = std::max(1.0, static_cast<double>(points.back().at) - first);
    const auto x = [&](double at) { return x0 + width * (at - first) / span; };
    const auto y = [&](int warps) { return top + height * (1 - s.percent(warps) / 100); };
    svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x0, top - 8, name);
    for (const int percent : {0, 50, 100}) {
      const double line = top + height * (1 - percent / 100.0);
      svg += fmt::format(
          "<line x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\" stroke=\"#ccc\"/>\n<text x=\"{3}\" "
          "y=\"{4}\" text-anchor=\"end\">{5} %</text>\n",
          x0, line, x0 + width, x0 - 4, line + 4, percent);
    }
    std::string path;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double at = x(static_cast<double>(points[i].at));
      path += i == 0 ? fmt::format("M{:.1f} {:.1f}", at, y(points[i].warps))
                     : fmt::format("H{:.1f}V{:.1f}", at, y(points[i].warps));
    }
    svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#2a6\" stroke-width=\"2\"/>\n", path);
    svg += fmt::format(
        "<text x=\"{}\" y=\"{}\">{}</text>\n<text x=\"{}\" y=\"{}\" "
        "text-anchor=\"end\">{}</text>\n",
        x0, top + height + 16, points.front().at, x0 + width, top + height + 16, points.back().at);
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"#c33\"/>\n<text x=\"{:.1f}\" y=\"{}\" "
        "text-anchor=\"middle\" fill=\"#c33\">{}</text>\n",
        x(static_cast<double>(here)), y(s.warps()), x(static_cast<double>(here)), top + height + 32,
        here);
  };
  draw(0, "threads per block", s.by_threads, s.block.threads);
  draw(1, "registers per thread", s.by_registers, s.block.registers);
  draw(2, "shared-memory bytes per block", s.by_shared, s.block.shared_bytes);
  return svg + "</svg>\n";
}

}  // namespace stepwise::cli
