// Cuts and paints the text, and prints head, source lines, loops and legend.
#include "grader/cli/text/ptx_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "grader/report/table.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {
namespace {

using emulator::access_role;

constexpr std::size_t number_width = 4;   // of a line number
constexpr std::size_t shown_of_many = 3;  // equal ops shown when a line is folded

// A piece of text and its tone. It is cut to its width before it is painted.
struct piece {
  std::string text;
  tone t = tone::plain;
};

std::string one_line(const std::string& text, std::size_t width, const terminal_style& style) {
  // Tabs and control characters are escaped first.
  return shortened(escaped_name(text), width, style.ellipsis());
}

std::string painted(const std::vector<piece>& pieces, std::size_t width,
                    const terminal_style& style) {
  std::string out;
  std::size_t used = 0;
  for (const piece& p : pieces) {
    if (used >= width) break;
    const std::string text = one_line(p.text, width - used, style);
    used += display_width(text);
    out += style.paint(p.t, text);
  }
  return out;
}

tone tone_of(const ptx_row& row) {
  if (row.role == access_role::member || row.role == access_role::dropped) return tone::dim;
  if (row.kind == "FMA") return tone::good;
  if (row.kind.starts_with("load ") || row.kind.starts_with("store ") || row.kind == "atomic") {
    return tone::place;
  }
  return row.kind == "barrier" ? tone::note : tone::plain;
}

class kernel_printer {
 public:
  kernel_printer(context& c, const kernel_listing& k, const ptx_view& view,
                 emulator::source_text& sources)
      : c_(c), style_(c.out.style()), k_(k), view_(view), sources_(sources) {
    width_ = static_cast<std::size_t>(style_.width);
    two_columns_ = style_.width >= two_columns_from;
    left_ = two_columns_ ? width_ * 2 / 5 : width_;
  }

  void print() {
    head();
    if (view_.line == 0) {
      all_lines();
    } else if (!one_source_line()) {
      return;
    }
    for (std::size_t n = 0; n < k_.loops.size(); ++n) loop(n);
  }

 private:
  void head() {
    c_.say(c_.out.paint(tone::strong, k_.name));
    std::string facts;
    if (k_.registers > 0) {
      facts = fmt::format("{} registers, {} bytes of shared memory, {} of stack; ", k_.registers,
                          k_.shared_bytes, k_.stack_bytes);
    }
    facts += fmt::format("{} PTX instructions", k_.ptx_instructions);
    if (k_.knows_machine_code) {
      facts += fmt::format(" became {} machine instructions", k_.machine_instructions);
    }
    c_.out.paragraph(facts, 2, "  ", tone::dim);
    c_.say();
  }

  // Source lines --------------------------------------------------------------------------------

  void all_lines() {
    const std::string* file = nullptr;
    std::uint32_t before = 0;
    for (const ptx_source_line& l : k_.lines) {
      const bool is_new = file == nullptr || *file != l.file;
      if (is_new && (file != nullptr || l.file != view_.file)) {
        c_.say("  " + c_.out.paint(tone::dim, l.file.empty() ? "no line" : c_.where.shown(l.file)));
      }
      if (!is_new) lines_between(l.file, before, l.line);
      source_line(l, true);
      file = &l.file;
      before = l.line;
    }
    c_.say();
  }

  // The kernel's lines that produced no code, without empty lines and comments.
  void lines_between(const std::string& file, std::uint32_t before, std::uint32_t next) {
    constexpr std::uint32_t most = 12;
    if (next - before - 1 > most) return c_.say(std::string(number_width, ' ') + "  ...");
    for (std::uint32_t n = before + 1; n < next; ++n) {
      const std::string text(sources_.whole_line(file, n));
      const auto first = text.find_first_not_of(" \t");
      if (first == std::string::npos || text.compare(first, 2, "//") == 0) continue;
      c_.say(numbered(n, text, tone::dim));
    }
  }

  std::string numbered(std::uint32_t number, const std::string& text, tone t) {
    const std::string shown = number == 0 ? "" : std::to_string(number);
    return painted({{fmt::format("{:>{}}  ", shown, number_width), tone::dim}, {text, t}}, left_,
                   style_);
  }

  bool one_source_line() {
    bool found = false;
    std::string others;
    for (const ptx_source_line& l : k_.lines) {
      if (l.file != view_.file) continue;
      if (l.line != view_.line) {
        others += (others.empty() ? "" : ", ") + std::to_string(l.line);
        continue;
      }
      source_line(l, false);
      for (const ptx_row& row : l.rows) loops_of_line_.insert(row.loop);
      found = true;
    }
    if (!found) {
      const std::string file = std::filesystem::path(view_.file).filename();
      c_.out.paragraph(
          fmt::format("no PTX instruction of this kernel comes from line {} of {}", view_.line,
                      file) +
              (others.empty() ? ", nor from another of its lines" : "; these have PTX: " + others),
          2, "  ");
    }
    c_.say();
    return found;
  }

  // A line's instructions, with equal instructions folded. In two columns, the first instruction is
  // next to the source.
  void source_line(const ptx_source_line& l, bool folds) {
    const std::string source = l.source.empty() ? "(source not found)" : l.source;
    std::string first = numbered(l.line, source, tone::strong);
    const std::size_t room = two_columns_ ? width_ - left_ - 2 : width_ - number_width - 2;
    std::vector<std::string> right;
    std::string inlined;
    std::map<std::string, std::size_t> seen, folded;
    for (const ptx_row& row : l.rows) {
      const std::string kind = row.opcode + " " + std::to_string(row.loop) + row.note;
      const auto same = static_cast<std::size_t>(
          std::count_if(l.rows.begin(), l.rows.end(), [&](const ptx_row& r) {
            return r.opcode == row.opcode && r.loop == row.loop && r.note == row.note;
          }));
      if (folds && same > shown_of_many + 1 && ++seen[kind] > shown_of_many) {
        ++folded[row.opcode];
        continue;
      }
      if (row.inlined != inlined) {
        const std::string where = row.inlined.empty() ? "the line itself" : row.inlined;
        right.push_back(painted({{"  in " + where, tone::dim}}, room, style_));
        inlined = row.inlined;
      }
      right.push_back(instruction(row, room));
      for (const std::string& code : row.machine_code) {
        right.push_back(painted({{"        " + code, tone::dim}}, room, style_));
      }
    }
    if (!folded.empty()) right.push_back(painted({{rest(folded, l), tone::dim}}, room, style_));
    print_columns(std::move(first), right);
  }

  void print_columns(std::string first, const std::vector<std::string>& right) {
    if (!two_columns_) {
      c_.say(first);
      for (const std::string& r : right) c_.say(std::string(number_width + 2, ' ') + r);
      return;
    }
    for (std::size_t n = 0; n < std::max<std::size_t>(right.size(), 1); ++n) {
      const std::string left = n == 0 ? first : "";
      const std::string gap(left_ + 2 - std::min(left_, display_width(left)), ' ');
      c_.say(n < right.size() ? left + gap + right[n] : left);
    }
  }

  std::string rest(const std::map<std::string, std::size_t>& folded, const ptx_source_line& l) {
    std::string text = "      and ";
    bool first = true;
    for (const auto& [opcode, count] : folded) {
      text += fmt::format("{}{} more {}", first ? "" : ", ", count, opcode);
      first = false;
    }
    return text + (l.file == view_.file ? fmt::format("; --line {} shows them", l.line) : "");
  }

  std::string instruction(const ptx_row& row, std::size_t room) {
    std::vector<piece> pieces{mark(row.loop)};
    if (k_.knows_machine_code) {
      const bool none = row.machine_instructions == 0;
      pieces.push_back({none ? "  -  " : fmt::format("{:>3}  ", row.machine_instructions),
                        none ? tone::dim : tone::plain});
    }
    pieces.push_back({row.text, tone_of(row)});
    if (!row.note.empty()) {
      pieces.push_back({style_.unicode ? "  \u2190 " : "  <- ", tone::dim});
      pieces.push_back({row.note, tone::dim});
    }
    return painted(pieces, room, style_);
  }

  piece mark(std::uint32_t loop) {
    if (loop == no_loop) return {"  "};
    if (k_.loops[loop].is_main) return {style_.unicode ? "\u2503 " : "| ", tone::note};
    return {style_.unicode ? "\u2506 " : ": ", tone::dim};
  }

  // Loops ---------------------------------------------------------------------------------------

  std::string lines_text(const ptx_loop& l) const {
    if (l.first_line == 0) return "without source lines";
    const std::string file =
        l.file == view_.file ? "" : std::filesystem::path(l.file).filename().string() + " ";
    if (l.first_line == l.last_line) return fmt::format("{}line {}", file, l.first_line);
    return fmt::format("{}lines {}-{}", file, l.first_line, l.last_line);
  }

  std::string number(double value, const ptx_loop& l) const {
    return l.copies == 1 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
  }

  void loop(std::size_t n) {
    const ptx_loop& l = k_.loops[n];
    if (view_.line != 0 && loops_of_line_.count(static_cast<std::uint32_t>(n)) == 0) return;
    const piece m = mark(static_cast<std::uint32_t>(n));
    const std::string title = fmt::format("{}, {}",
                                          l.is_remainder   ? "remainder of an unrolled loop"
                                          : l.is_innermost ? "innermost loop"
                                                           : "outer loop",
                                          lines_text(l));
    c_.say("  " + c_.out.paint(m.t, m.text) + c_.out.paint(tone::strong, title) +
           ": one iteration of the PTX loop" + (l.is_innermost ? "" : ", without inner loops"));
    table(l);
    for (const std::string& sentence : sentences(l)) c_.out.paragraph(sentence, 4, "    ");
    c_.say();
  }

  void table(const ptx_loop& l) {
    const bool machine = k_.knows_machine_code;
    std::vector<column> columns{{"kind"}, {"PTX", true}};
    if (machine) columns.push_back({"machine", true});
    if (l.fma > 0) columns.push_back({machine ? "machine per FMA" : "per FMA", true});
    columns.push_back({"bytes", true});
    std::vector<std::vector<cell>> rows;
    const auto add = [&](const std::string& kind, std::uint32_t ptx, double executed,
                         std::uint32_t bytes, tone t) {
      std::vector<cell> row{{kind, t}, {std::to_string(ptx), t}};
      if (machine) row.push_back({number(executed, l), t});
      const double per_fma = (machine ? executed : ptx) / std::max(1u, l.fma);
      if (l.fma > 0) row.push_back({fmt::format("{:.2f}", per_fma), t});
      row.push_back({bytes > 0 ? std::to_string(bytes) : "", t});
      rows.push_back(std::move(row));
    };
    for (const kind_count& kind : l.kinds) {
      const bool gone = machine && kind.machine == 0;
      add(kind.kind, kind.ptx, kind.machine, kind.bytes, gone ? tone::dim : tone::plain);
    }
    add("all", l.ptx, l.machine, 0, tone::strong);
    for (const std::string& line : table_lines(columns, rows, style_)) c_.say("    " + line);
  }

  std::vector<std::string> sentences(const ptx_loop& l) const {
    std::vector<std::string> out;
    if (l.fma > 0) {
      const auto per_fma = [&](double value) { return fmt::format("{:.2f}", value / l.fma); };
      std::string text = k_.knows_machine_code
                             ? per_fma(l.machine) + " machine instructions per FMA"
                             : per_fma(l.ptx) + " PTX instructions per FMA";
      std::string loaded;
      if (l.loaded_global_bytes > 0) {
        loaded = per_fma(l.loaded_global_bytes) + " bytes from global memory";
      }
      if (l.loaded_shared_bytes > 0) {
        loaded += (loaded.empty() ? "" : ", ") + per_fma(l.loaded_shared_bytes) +
                  " bytes from shared memory";
      }
      text += loaded.empty() ? "; nothing is loaded." : "; loaded per FMA: " + loaded + ".";
      out.push_back(std::move(text));
    }
    if (l.copies > 1) {
      out.push_back(
          fmt::format("ptxas made about {} copies of it (it unrolls loops and duplicates code for "
                      "diverged warps); the machine instruction counts are divided by that.",
                      l.copies));
    }
    if (l.unrolled > 1 && l.has_branches) {
      out.push_back(fmt::format(
          "Each of its lines with loads, stores or FMAs appears {} times, or a multiple of that: "
          "nvcc unrolled it or an inner loop, or duplicated a branch.",
          l.unrolled));
    } else if (l.unrolled > 1) {
      out.push_back(
          fmt::format("nvcc probably unrolled it {} times, so one iteration here is {} iterations "
                      "of the source loop.",
                      l.unrolled, l.unrolled));
    } else if (l.unrolled_line != 0) {
      out.push_back(fmt::format("Line {} appears several times: nvcc unrolled an inner loop.",
                                l.unrolled_line));
    }
    if (l.has_branches)
      out.push_back("It has branches; the instructions of all branches are counted.");
    return out;
  }

  context& c_;
  const terminal_style style_;
  const kernel_listing& k_;
  const ptx_view& view_;
  emulator::source_text& sources_;
  std::set<std::uint32_t> loops_of_line_;
  std::size_t width_ = 80, left_ = 80;
  bool two_columns_ = false;
};

}  // namespace

void show_kernel(context& c, const kernel_listing& k, const ptx_view& view,
                 emulator::source_text& sources) {
  kernel_printer(c, k, view, sources).print();
}

void show_legend(context& c, const std::vector<kernel_listing>& kernels) {
  const bool machine = std::any_of(kernels.begin(), kernels.end(),
                                   [](const kernel_listing& k) { return k.knows_machine_code; });
  const bool unicode = c.out.style().unicode;
  std::string text = fmt::format("{} innermost loop, or the loop with the FMAs; {} enclosing loop.",
                                 unicode ? "\u2503" : "|", unicode ? "\u2506" : ":");
  if (machine) {
    text +=
        " The number before a PTX instruction is its number of machine instructions; - means that "
        "it was merged, became part of another instruction, or was not needed.";
  }
  const auto sum = [&](std::uint32_t kernel_listing::*what) {
    std::uint32_t all = 0;
    for (const kernel_listing& k : kernels) all += k.*what;
    return all;
  };
  if (const auto open = sum(&kernel_listing::undecided); open > 0) {
    text += fmt::format(" For {}, the line tables do not show which.",
                        open == 1 ? "one access" : std::to_string(open) + " accesses");
  }
  c.out.paragraph(text, 2, "  ", tone::dim);
}

}  // namespace stepwise::cli
