// Draws a step: lanes as a row of 32 columns, banks and sectors beneath.
#include "grader/cli/recorded/frame.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <map>
#include <set>

#include "grader/cli/recorded/choice.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {
namespace {

// Text from a file without control characters, which would drive the terminal.
std::string fitting(std::string text, std::size_t width) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
  return text.size() > width ? text.substr(0, width - 3) + "..." : text;
}

// Inserts a space between groups of eight columns.
std::string in_groups(const std::string& columns) {
  std::string line;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (c != 0 && c % 8 == 0) line += ' ';
    line += columns[c];
  }
  return line;
}

std::string lane_marks(const warp_recording::step& s) {
  std::string marks;
  for (int l = 0; l < 32; ++l) marks += s.active >> l & 1 ? '#' : s.mask >> l & 1 ? 'o' : '.';
  return in_groups(marks);
}

// The rows of shared memory that the lanes access, 32 banks each, and below them the number of
// words per bank. More than one word is a bank conflict.
std::vector<cell> bank_lines(const warp_recording::access& a, std::size_t most_rows) {
  std::map<std::uint64_t, std::string> rows;  // by the row's number
  std::array<unsigned, 32> in_bank{};
  for (std::uint32_t m = a.lanes; m != 0; m &= m - 1)
    for (unsigned k = 0; k < std::max(4u, a.bytes); k += 4) {
      const std::uint64_t word = (a.at.of[static_cast<std::size_t>(std::countr_zero(m))] + k) / 4;
      char& mark = rows.try_emplace(word / 32, 32, '.').first->second[word % 32];
      if (mark == '.') ++in_bank[word % 32];
      mark = '#';
    }
  const unsigned most = *std::ranges::max_element(in_bank);
  std::vector<cell> lines;
  for (const auto& [row, marks] : rows) {
    if (lines.size() == most_rows) {
      lines.push_back(
          {fmt::format("        {} more rows of 128 bytes", rows.size() - most_rows), tone::dim});
      break;
    }
    lines.push_back({fmt::format("{:>6}  {}", row * 128, in_groups(marks)), tone::plain});
  }
  std::string counts;
  for (const unsigned n : in_bank)
    counts += n == 0 ? '.' : n < 10 ? static_cast<char>('0' + n) : '+';
  const std::string words = most > 1 ? fmt::format("  up to {} words in a bank", most) : "";
  lines.push_back({"banks   " + in_groups(counts) + words, most > 1 ? tone::bad : tone::good});
  return lines;
}

// Number of lanes per 32-byte sector, in order: "0:8 32:8 ...".
std::string sector_line(const warp_recording::access& a) {
  std::map<std::int64_t, int> lanes_in;
  for (std::uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const auto at =
        static_cast<std::int64_t>(a.at.of[static_cast<std::size_t>(std::countr_zero(m))]);
    ++lanes_in[at / 32 * 32];
  }
  std::string line;
  for (const auto& [at, n] : lanes_in)
    line += fmt::format("{}{}:{}", line.empty() ? "" : " ", at, n);
  return line;
}

// At most `most` lines around the instruction's own line.
std::vector<cell> source_lines(const warp_recording& r, const warp_recording::instruction& i,
                               std::size_t most) {
  std::vector<cell> lines;
  if (i.file < 0) return lines;
  const auto& f = r.files[static_cast<std::size_t>(i.file)];
  auto from = f.lines.find(i.line);
  for (std::size_t k = 0; k < most / 2 && from != f.lines.begin(); ++k) --from;
  for (; lines.size() < most && from != f.lines.end(); ++from)
    lines.push_back(
        {fmt::format("{} {:4}  {}", from->first == i.line ? '>' : ' ', from->first, from->second),
         from->first == i.line ? tone::note : tone::dim});
  return lines;
}

// The lanes' values of a register, as many per row as fit in whole columns.
void add_values(const warp_recording& r, const warp_recording::step& s, std::size_t n,
                std::size_t columns, std::vector<cell>& lines) {
  const auto& written = r.instructions[s.instruction].writes[n];
  std::vector<std::string> values;
  std::size_t width = 0;
  for (int l = 0; l < 32; ++l) {
    values.push_back(s.active >> l & 1 ? fitting(value_text(r, s.values[n], written.type, l), 20)
                                       : "-");
    width = std::max(width, values.back().size());
  }
  std::size_t in_row = 16;
  while (in_row > 1 && in_row * (width + 1) > columns) in_row /= 2;
  lines.push_back({written.name + " =", tone::strong});
  std::string row;
  for (std::size_t l = 0; l < 32; ++l) {
    row += fmt::format(" {:>{}}", values[l], width);
    if (l % in_row == in_row - 1) lines.push_back({std::exchange(row, "")});
  }
}

}  // namespace

std::vector<cell> frame_lines(const warp_recording& r, std::size_t at, bool values,
                              const screen& on) {
  const auto& s = r.steps[at];
  const auto& i = r.instructions[s.instruction];
  std::vector<cell> above = {{fmt::format("instruction {} of {}; warp {} of block {}; {}", at + 1,
                                          r.steps.size(), s.warp, r.block_index, r.kernel),
                              tone::strong}};
  for (auto& line : wrapped(step_text(r, s), on.columns)) above.push_back({std::move(line)});
  above.emplace_back();
  std::vector<cell> below = {{"PTX     " + i.ptx, tone::strong}};
  if (!i.note.empty()) below.push_back({"        " + i.note, tone::dim});
  below.emplace_back();
  below.push_back({"lanes   " + lane_marks(s)});
  for (const auto& a : s.accesses) {
    if (a.space == "shared") {
      constexpr std::size_t rows_outside = 16;  // of a frame, with three lines of source
      const std::size_t room = on.rows > rows_outside + 1 ? on.rows - rows_outside : 1;
      std::ranges::move(bank_lines(a, room), std::back_inserter(below));
      continue;
    }
    const std::string name =
        a.at.area >= 0 ? r.areas[static_cast<std::size_t>(a.at.area)].name : a.space;
    for (auto& line : wrapped("sectors " + name + ", byte:lanes  " + sector_line(a), on.columns))
      below.push_back({std::move(line), a.taken > a.ideal ? tone::bad : tone::good});
  }
  for (std::size_t n = 0; values && n < s.values.size(); ++n)
    add_values(r, s, n, on.columns, below);
  const std::size_t taken = above.size() + below.size() + 3;
  auto lines = std::move(above);
  std::ranges::move(
      source_lines(r, i, std::clamp<std::size_t>(on.rows - std::min(on.rows, taken), 1, 7)),
      std::back_inserter(lines));
  std::ranges::move(below, std::back_inserter(lines));
  if (lines.size() + 3 > on.rows) {
    lines.resize(std::max<std::size_t>(on.rows, 8) - 4);
    lines.push_back({"..."});
  }
  for (cell& line : lines) line.text = fitting(std::move(line.text), on.columns);
  return lines;
}

std::size_t next_access(const warp_recording& r, std::size_t at, bool is_costly) {
  while (++at < r.steps.size())
    for (const auto& a : r.steps[at].accesses)
      if (a.counted && (!is_costly || a.taken > a.ideal)) return at;
  return r.steps.size();
}

std::string list_line(const warp_recording& r, std::size_t at) {
  const auto& s = r.steps[at];
  const auto& i = r.instructions[s.instruction];
  std::string cost;
  for (const auto& a : s.accesses)
    if (a.counted) cost += fmt::format("{} {}", a.taken, a.space == "shared" ? "wf" : "sec");
  return fitting(
      fmt::format("{:5} {:2} {:4} {} {:7} {}", at + 1, s.warp,
                  i.file >= 0 ? std::to_string(i.line) : "-", lane_marks(s), cost, i.ptx),
      80);
}

}  // namespace stepwise::cli
