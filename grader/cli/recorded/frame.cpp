// Draws a step: lanes as a row of 32 columns, banks and sectors beneath.
#include "grader/cli/recorded/frame.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "grader/cli/recorded/choice.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {
namespace {

constexpr std::size_t columns = 80;

// What a file says is shown without what would drive a terminal.
std::string fitting(std::string text, std::size_t width) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
  return text.size() > width ? text.substr(0, width - 3) + "..." : text;
}

std::string lane_marks(const warp_recording::step& s) {
  std::string marks;
  for (int l = 0; l < 32; ++l) {
    if (l != 0 && l % 8 == 0) marks += ' ';
    marks += s.active >> l & 1 ? '#' : s.mask >> l & 1 ? 'o' : '.';
  }
  return marks;
}

// How many different words of each bank the lanes ask for: a column higher than 1 is a conflict.
std::string bank_line(const warp_recording::access& a) {
  std::set<std::uint64_t> words;
  for (std::uint32_t m = a.lanes; m != 0; m &= m - 1)
    for (unsigned k = 0; k < std::max(4u, a.bytes); k += 4)
      words.insert((a.at.of[static_cast<std::size_t>(std::countr_zero(m))] + k) / 4);
  unsigned in_bank[32] = {};
  for (const std::uint64_t w : words) ++in_bank[w % 32];
  std::string line;
  for (int b = 0; b < 32; ++b) {
    if (b != 0 && b % 8 == 0) line += ' ';
    const unsigned n = in_bank[b];
    line += n == 0   ? '.'
            : n < 10 ? static_cast<char>('0' + n)
            : n < 36 ? static_cast<char>('a' + n - 10)
                     : '+';
  }
  return line;
}

// Lanes in each sector of 32 bytes, in order: "0:8 32:8 ...".
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

}  // namespace

std::vector<std::string> frame_lines(const warp_recording& r, std::size_t at, bool values) {
  const auto& s = r.steps[at];
  const auto& i = r.instructions[s.instruction];
  std::vector<std::string> lines;
  const auto add = [&](const std::string& text) { lines.push_back(fitting(text, columns)); };
  add(fmt::format("instruction {} of {}, warp {}; {}", at + 1, r.steps.size(), s.warp,
                  kept_text(r)));
  add(step_text(r, s));
  lines.emplace_back();
  if (i.file >= 0) {
    const auto& f = r.files[static_cast<std::size_t>(i.file)];
    auto from = f.lines.find(i.line);
    for (int k = 0; k < 3 && from != f.lines.begin(); ++k) --from;
    for (int k = 0; k < 7 && from != f.lines.end(); ++k, ++from)
      add(fmt::format("{} {:4}  {}", from->first == i.line ? '>' : ' ', from->first, from->second));
  }
  add("PTX     " + i.ptx);
  if (!i.note.empty()) add("        " + i.note);
  lines.emplace_back();
  add("lanes   " + lane_marks(s));
  for (const auto& a : s.accesses) {
    if (a.space == "shared") {
      add("banks   " + bank_line(a));
      continue;
    }
    const std::string name =
        a.at.area >= 0 ? r.areas[static_cast<std::size_t>(a.at.area)].name : a.space;
    add("sectors " + name + ", byte:lanes  " + sector_line(a));
  }
  for (std::size_t n = 0; values && n < s.values.size(); ++n) {
    add(i.writes[n].name + " =");
    std::string row;
    for (int l = 0; l < 32; ++l) {
      row += fmt::format(" {:>9}", s.active >> l & 1
                                       ? fitting(value_text(r, s.values[n], i.writes[n].type, l), 9)
                                       : "-");
      if (l % 8 == 7) add(std::exchange(row, ""));
    }
  }
  return lines;
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
      columns);
}

}  // namespace stepwise::cli
