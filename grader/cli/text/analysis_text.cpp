// Lays out the sections of the guided analysis.
#include "grader/cli/text/analysis_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/report/profile_text.hpp"
#include "grader/cli/text/advice_words.hpp"
#include "grader/cli/text/figures_text.hpp"
#include "grader/cli/text/page.hpp"

namespace stepwise::cli {
namespace {

constexpr std::size_t most_rows = 6;
constexpr double worth_a_row = 0.005;  // fraction of the total
constexpr double few_active = 0.8;     // fraction of the lanes with a thread

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }
double busy(const kernel_analysis& a, part p) { return a.kernel->timing.busy[static_cast<int>(p)]; }

std::string extents(const extent& e) {
  return e.z > 1   ? fmt::format("{}x{}x{}", e.x, e.y, e.z)
         : e.y > 1 ? fmt::format("{}x{}", e.x, e.y)
                   : std::to_string(e.x);
}

// A line number, with the file's name unless it is the kernel's main file.
std::string place_text(const code_place& at, const kernel_analysis& a) {
  if (at.line == 0) return "?";
  std::string main;
  for (const line_profile& l : a.kernel->lines)
    if (l.at.line != 0) {
      main = l.at.file;
      break;
    }
  return at.file == main ? std::to_string(at.line) : fmt::format("{}:{}", at.file, at.line);
}

// The line with most instructions of a pipe.
code_place line_with_most(const kernel_analysis& a, pipe p) {
  const auto warps = [p](const line_profile& l) {
    return l.counts.instructions[static_cast<int>(p)].warps;
  };
  const auto most = std::ranges::max_element(a.kernel->lines, {}, warps);
  return most == a.kernel->lines.end() ? code_place() : most->at;
}

cell source_cell(const code_place& at) {
  return {at.line == 0 && at.text.empty() ? "(line unknown: compile with -lineinfo)" : at.text,
          tone::dim};
}

void share_bar(page& p, const char* label, double share, const std::string& what, bool strong) {
  const int columns = std::clamp(p.style().width - 46, 10, 60);
  const auto filled =
      static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns)));
  std::string drawn;
  for (int n = 0; n < columns; ++n)
    drawn +=
        n < filled ? (p.style().unicode ? "\u2588" : "#") : (p.style().unicode ? "\u2591" : ".");
  p.line(fmt::format("  {:<8}{:>6}  ", label, percent(share)) +
         p.style().paint(strong ? tone::note : tone::place, drawn) + "  " + what);
}

void bytes_by_level(page& p, const profile_view& v) {
  const kernel_analysis& a = v.costliest;
  const auto row = [&](const char* level, double bytes, const std::string& of) {
    return std::vector<cell>{{level}, {bytes_text(bytes)}, {of}};
  };
  const std::string pipe_busy = percent(busy(a, part::l1_pipe));
  const bool has_l1 = a.kernel->l1_bytes > 0, has_l2 = a.kernel->l2_bytes > 0;
  std::vector<std::vector<cell>> rows = {row(
      has_l1 ? "global memory, requested from L1" : "global memory", a.bytes.global, pipe_busy)};
  if (a.bytes.shared > 0) rows.push_back(row("shared memory", a.bytes.shared, "same pipe"));
  if (has_l2) rows.push_back(row("L2", a.bytes.l2, percent(busy(a, part::l2))));
  rows.push_back(row("DRAM", a.bytes.dram, percent(busy(a, part::dram))));
  p.table({{"level"}, {"bytes", true}, {"busy", true}}, rows);
  p.line();
  constexpr double nearly_all = 0.995;
  const double counted = a.kernel->timing.counted;
  std::string text;
  if (counted < nearly_all)
    text = fmt::format("Estimated from the {:.2g} % of the launch that ran. ", 100 * counted);
  if (counted < 1 && has_l2) text += "Stores still held in L2 are not counted as DRAM traffic. ";
  if (const double earlier = a.traffic.dram_earlier_bytes; earlier > 0.1 * a.bytes.dram)
    text += fmt::format(
        "DRAM also writes {} left in L2 by earlier launches and copies; its busy time includes "
        "that. ",
        bytes_text(earlier));
  if (v.m->work.bytes > 0)
    text += fmt::format("The whole call must move at least {}.", bytes_text(v.m->work.bytes));
  p.paragraph(text, tone::dim);
  p.line();
}

void access_table(page& p, const kernel_analysis& a, const std::vector<costly_line>& lines) {
  std::vector<std::vector<cell>> rows;
  for (const costly_line& l : lines) {
    if (rows.size() == most_rows) break;
    const char* unit = is_shared(l.cost.what) ? "wavefronts" : "sectors";
    const tone t = a.is_wasteful(l) ? tone::note : tone::plain;
    rows.push_back(
        {{place_text(l.at, a), tone::place},
         {name_of(l.cost.what), t},
         {fmt::format("{:.1f} {}", l.cost.per_request(), unit), t},
         {is_local(l.cost.what) ? "0"
          : l.cost.ideal > 0    ? fmt::format("{:.1f}", l.cost.ideal_per_request())
                                : ""},
         {l.cost.ideal > 0 && l.cost.waste() > 0 ? percent(1 - 1 / l.cost.excess()) : ""},
         source_cell(l.at)});
  }
  p.table({{"line", true},
           {"access"},
           {"per request", true},
           {"ideal", true},
           {"wasted", true},
           {"source", false, true, true}},
          rows);
}

void fix_sentence(page& p, const kernel_analysis& a) {
  if (a.wasteful.empty()) {
    const bool known =
        std::ranges::all_of(a.accesses, [](const costly_line& l) { return l.cost.ideal > 0; });
    const bool none =
        std::ranges::all_of(a.accesses, [](const costly_line& l) { return l.cost.waste() == 0; });
    p.paragraph(!known  ? "The minimum cost of these accesses was not counted."
                : !none ? "No access moves many more sectors than its lanes need."
                        : "Every access already moves only the sectors that its lanes need.");
    return;
  }
  const costly_line& l = a.wasteful.front();
  const char* unit = is_shared(l.cost.what) ? "wavefronts" : "sectors";
  const std::string where =
      l.at.line == 0 ? "Fix this first" : fmt::format("Fix line {} first", place_text(l.at, a));
  const std::string costs =
      fmt::format("{}: {:.1f} {} per {}", where, l.cost.per_request(), unit, name_of(l.cost.what));
  const double ideal = l.cost.ideal_per_request();
  switch (l.cost.why()) {
    case waste_cause::same_address:
      return p.paragraph(
          fmt::format("{}, {:.1f} if lanes with the same address were combined first.", costs,
                      ideal),
          tone::strong);
    case waste_cause::local_memory:
      return p.paragraph(costs + ", 0 if the values were in registers.", tone::strong);
    default:
      // A row that begins within a sector can need more sectors than its bytes fill.
      p.paragraph(costs +
                      (is_shared(l.cost.what) ? fmt::format(", {:.1f} would be enough", ideal)
                                              : fmt::format(", whose bytes fill {:.1f}", ideal)) +
                      " (" + name_of(l.cost.why()) + ").",
                  tone::strong);
  }
}

void memory_branch(page& p, const profile_view& v) {
  p.title("3  Memory: how many bytes move, and which lines move them");
  bytes_by_level(p, v);
  access_table(p, v.costliest, v.costliest.accesses);
  p.line();
  fix_sentence(p, v.costliest);
}

std::string lanes_sentence(const kernel_analysis& a) {
  return fmt::format("{:.1f} of 32 lanes are active (warp efficiency {})", a.lanes,
                     percent(a.lanes / 32)) +
         (a.divergent > 0 ? fmt::format("; {:.2g} % of the branches diverge. ", 100 * a.divergent)
                          : "; no branch diverges. ");
}

void compute_branch(page& p, const profile_view& v) {
  const kernel_analysis& a = v.costliest;
  p.title("3  Compute: which instructions");
  std::vector<bar> bars;
  for (const pipe_share& s : a.mix) {
    if (s.share < worth_a_row) continue;
    std::string name = stepwise::name_of(s.of);
    std::ranges::replace(name, '_', '/');
    bars.push_back({name, s.share, percent(s.share), tone::place});
  }
  p.bars(bars);
  p.line();
  std::string text = lanes_sentence(a);
  text += a.float_share() > 0
              ? fmt::format("{:.1f} integer instructions per floating-point instruction.",
                            a.integer_share() / a.float_share())
              : "No floating point: all arithmetic is integer.";
  p.paragraph(text);
  p.line();
  std::vector<std::vector<cell>> rows;
  for (const executed_line& l : a.executed) {
    if (rows.size() == most_rows || l.share < worth_a_row) break;
    rows.push_back(
        {{place_text(l.at, a), tone::place},
         {percent(l.share)},
         {fmt::format("{:.1f}", l.lanes), l.lanes < few_active * 32 ? tone::note : tone::plain},
         {l.divergent > 0 ? percent(l.divergent) : ""},
         source_cell(l.at)});
  }
  p.table({{"line", true},
           {"instructions", true},
           {"lanes", true},
           {"divergent", true},
           {"source", false, true, true}},
          rows);
}

void occupancy_lines_of(page& p, const profile_view& v) {
  const kernel_analysis& a = v.costliest;
  const kernel_profile& k = *a.kernel;
  p.labelled(fmt::format("theoretical occupancy  {:>5}   ", percent(a.theoretical_occupancy)),
             fmt::format("{} of {} warps, {} blocks; limit: {}", k.resident_warps, k.most_warps,
                         k.fits.blocks, limiter_of(k.fits)));
  p.labelled(fmt::format("achieved occupancy     {:>5}   ", percent(a.achieved_occupancy)),
             fmt::format("{:.1f} warps on average", k.timing.active_warps));
  if (a.blocks_per_place > 0 && a.blocks_per_place < 1) {
    const std::uint64_t blocks = volume(k.grid);
    p.paragraph(fmt::format("The grid has {} block{}; the GPU can hold {:.0f} at once.",
                            grouped(blocks), blocks == 1 ? "" : "s",
                            static_cast<double>(blocks) / a.blocks_per_place));
  }
  if (v.room && a.theoretical_occupancy < 1) {
    std::string text;
    for (const occupancy_gain& g : v.room->gains) {
      using by = decltype(occupancy_gain::what);
      text += (text.empty() ? "More fit with " : ", or ") +
              (g.what == by::threads     ? fmt::format("blocks of {} threads", g.to)
               : g.what == by::registers ? fmt::format("{} registers", g.to)
                                         : fmt::format("{} bytes of shared memory", g.to)) +
              fmt::format(" ({})", percent(v.room->percent(g.warps) / 100));
    }
    if (!text.empty()) p.paragraph(text + ".");
  }
}

void latency_branch(page& p, const profile_view& v) {
  const kernel_analysis& a = v.costliest;
  p.title("3  Latency: how many warps are resident, and what they wait for");
  occupancy_lines_of(p, v);
  if (a.active < few_active) p.paragraph(lanes_sentence(a));
  p.line();
  if (a.stalled.empty()) {
    p.paragraph("No warp waited.");
    return;
  }
  std::vector<bar> bars;
  for (const stall_share& s : a.stalled)
    if (s.share >= worth_a_row)
      bars.push_back({stall_words(a, s.why), s.share, percent(s.share), tone::place});
  p.bars(bars);
  if (!knows_lines(*a.kernel)) return;
  p.line();
  std::vector<std::vector<cell>> rows;
  for (const stalled_line& l : a.lines) {
    if (rows.size() == most_rows || l.share < worth_a_row) break;
    rows.push_back({{place_text(l.at, a), tone::place},
                    {percent(l.share)},
                    {fmt::format("{} {}", stall_words(a, l.why[0].why), percent(l.why[0].share))},
                    {l.whose ? "line " + place_text(*l.whose, a) : ""},
                    source_cell(l.at)});
  }
  p.table(
      {{"line", true}, {"stalls", true}, {"mostly"}, {"waits for"}, {"source", false, true, true}},
      rows);
}

std::string change_text(double before, double after) {
  return fmt::format("{} to {} ({})", time_text(before), time_text(after),
                     ratio_text(before / after));
}

// "modelled 92.7 us to 79.4 us (1.17x), recorded ..."; empty if neither is known.
std::string gain_text(const profile_view& v, const step& to,
                      const std::vector<kernel_profile>& call) {
  std::string text;
  if (const double us = time_us(call); us > 0)
    text = "modelled " + change_text(v.m->time_ms, us / 1000);
  const auto before = v.recorded_ms(v.at), after = v.recorded_ms(&to);
  if (before && after)
    text += (text.empty() ? "" : "; ") + ("recorded " + change_text(*before, *after));
  else if (after)
    text += (text.empty() ? "" : "; ") + ("recorded at " + time_text(*after));
  return text;
}

std::string fixed_figure_text(cause c, double figure) {
  const std::string unit = unit_of(c);
  if (unit.starts_with("Bytes")) return bytes_text(figure);
  if (unit.starts_with("Time")) return figure > 0 ? time_text(figure / 1000) : "none";
  return figure < 100 ? fmt::format("{:.3g}", figure) : count_text(figure);
}

std::string short_name(const step& s) { return s.name.substr(0, s.name.find('_')); }

void add_next(page& p, const profile_view& v) {
  if (!v.of->is_worked) {
    p.line("  " +
           p.style().paint(tone::dim,
                           fmt::format("./lab walk {}   the steps' ideas in order", v.of->name)));
    return;
  }
  if (!v.next) {
    p.paragraph(v.at != nullptr ? "This is the lab's last step. Find the next improvement yourself."
                                : "No later step of the lab has a faster recorded time.",
                tone::dim);
    return;
  }
  const suggestion& s = *v.next;
  const auto suggest = [&](const char* lead, const step& one, const auto& call) {
    const std::string gain = gain_text(v, one, call);
    p.paragraph(
        fmt::format("{} {}: {}{}{}.", lead, one.name, one.idea, gain.empty() ? "" : "; ", gain),
        tone::strong);
  };
  suggest("Next step", *s.next, s.next_call);
  if (s.fixing != nullptr) {
    if (s.fixing != s.next) suggest("And then", *s.fixing, s.fixing_call);
    p.paragraph(fmt::format("It addresses {}. {}: {} before, {} after.", stepwise::name_of(s.fixed),
                            unit_of(s.fixed),
                            fixed_figure_text(s.fixed, figure_of(s.fixed, v.m->kernels)),
                            fixed_figure_text(s.fixed, figure_of(s.fixed, s.fixing_call))));
  }
  const step& last = s.fixing != nullptr ? *s.fixing : *s.next;
  p.line();
  p.line("  " + p.style().paint(
                    tone::dim,
                    fmt::format("{}./lab profile {} {}",
                                v.at == nullptr ? ""
                                                : fmt::format("./lab diff {} {} {}   ", v.of->name,
                                                              short_name(*v.at), short_name(last)),
                                v.of->name, short_name(last))));
}

}  // namespace

std::vector<std::string> kernel_lines(const profile_view& v, const terminal_style& style) {
  page p(style);
  p.title("1  Where the time goes");
  std::vector<std::vector<cell>> rows;
  const auto kernels = ranked(v.m->kernels);
  double others_us = 0;
  std::size_t others = 0;
  for (const kernel_profile* k : kernels) {
    const double share = k->timing.us / (1000 * v.m->time_ms);
    if (rows.size() == most_rows) {
      others_us += k->timing.us;
      ++others;
      continue;
    }
    rows.push_back({{k->kernel, rows.empty() ? tone::strong : tone::plain},
                    {extents(k->grid)},
                    {extents(k->block)},
                    {grouped(k->launches)},
                    {time_text(k->timing.us / 1000)},
                    {percent(share)}});
  }
  if (others > 0)
    rows.push_back({{fmt::format("{} others", others), tone::dim},
                    {""},
                    {""},
                    {""},
                    {time_text(others_us / 1000)},
                    {percent(others_us / (1000 * v.m->time_ms))}});
  p.table({{"kernel", false, true},
           {"grid", true},
           {"block", true},
           {"launches", true},
           {"time", true},
           {"share", true}},
          rows);
  p.line();
  std::string text = fmt::format("The call takes {}: {}.", time_text(v.m->time_ms), v.origin());
  text += copies_text(*v.m);
  if (const auto ms = v.recorded_ms(v.at))
    text += fmt::format(" The course's record of {} on an {}: {}.", v.at->name, v.m->gpu,
                        time_text(*ms));
  p.paragraph(text);
  return p.take();
}

std::vector<std::string> launched_lines(const profile_view& v, const terminal_style& style) {
  page p(style);
  p.title("1  Where the time goes");
  const double all_us = 1000 * v.m->time_ms;
  std::vector<std::vector<cell>> rows;
  const auto row = [&](const cell& name, const std::string& launches, double us,
                       const std::string& average) {
    rows.push_back({name, {launches}, {time_text(us / 1000)}, {average}, {percent(us / all_us)}});
  };
  const auto launched = by_kernel(v.m->kernels);
  double others_us = 0;
  for (const launched_kernel& k : launched) {
    if (rows.size() == most_rows) {
      others_us += k.us;
      continue;
    }
    row({k.kernel, rows.empty() ? tone::strong : tone::plain}, grouped(k.launches), k.us,
        time_text(k.average_us() / 1000));
  }
  if (launched.size() > most_rows)
    row({fmt::format("{} others", launched.size() - most_rows), tone::dim}, "", others_us, "");
  p.table({{"kernel", false, true},
           {"launches", true},
           {"total", true},
           {"average", true},
           {"share", true}},
          rows);
  p.line();
  p.paragraph(fmt::format("All kernels take {}: modelled, {}.", time_text(v.m->time_ms), v.m->gpu));
  const launched_kernel& first = launched.front();
  const kernel_profile& k = *v.costliest.kernel;
  if (first.configurations.size() > 1)
    p.paragraph(fmt::format(
        "{} was launched in {} configurations. The rest of this report is about the one that takes "
        "longest: a grid of {} blocks of {} threads, {} of its launches.",
        k.kernel, first.configurations.size(), extents(k.grid), extents(k.block),
        grouped(k.launches)));
  if (!knows_lines(k))
    p.paragraph(fmt::format("{} was compiled without -lineinfo: its source lines are unknown, and "
                            "instruction costs are estimated from the PTX alone.",
                            k.kernel),
                tone::note);
  return p.take();
}

std::vector<std::string> limit_lines(const profile_view& v, const terminal_style& style) {
  const kernel_analysis& a = v.costliest;
  page p(style);
  p.title("2  What limits " + a.kernel->kernel);
  const bool memory = a.limit == limiter::memory || a.limit == limiter::both;
  const bool compute = a.limit == limiter::compute || a.limit == limiter::both;
  share_bar(p, "compute", a.busy.compute, part_words(a.busy.compute_part), compute);
  share_bar(p, "memory", a.busy.memory, part_words(a.busy.memory_part), memory);
  const int columns = std::clamp(style.width - 46, 10, 60);
  p.line(std::string(static_cast<std::size_t>(18 + std::lround(busy_enough * columns) - 1), ' ') +
         style.paint(tone::dim, "^ 60 %"));
  const auto parts = [&](const char* what, std::initializer_list<part> which) {
    std::string text;
    for (const part one : which) {
      if (one == part::tensor && busy(a, one) == 0) continue;
      text +=
          (text.empty() ? "" : ", ") + fmt::format("{} {}", part_words(one), percent(busy(a, one)));
    }
    p.line("  " + style.paint(tone::dim, fmt::format("{:<8} {}", what, text)));
  };
  parts("compute", {part::issue, part::alu, part::fma, part::tensor});
  if (a.kernel->l2_bytes > 0)
    parts("memory", {part::l1_pipe, part::l2, part::dram, part::atomics});
  else
    parts("memory", {part::l1_pipe, part::dram, part::atomics});
  p.line();
  p.paragraph(limit_sentence(a), tone::strong);
  if (!v.found.empty())
    p.paragraph(fmt::format("Main cause: {} (see 4).", name_of(v.found[0].what)), tone::strong);
  return p.take();
}

std::vector<std::string> branch_lines(const profile_view& v, const terminal_style& style) {
  page p(style);
  const limiter limit = v.costliest.limit;
  if (limit == limiter::memory || limit == limiter::both) memory_branch(p, v);
  if (limit == limiter::both) p.line();
  if (limit == limiter::compute || limit == limiter::both) compute_branch(p, v);
  if (limit == limiter::latency) latency_branch(p, v);
  const bool memory_shown = limit == limiter::memory || limit == limiter::both;
  if (!memory_shown && !v.costliest.wasteful.empty()) {
    p.line();
    p.paragraph("These accesses cost more than necessary:");
    access_table(p, v.costliest, v.costliest.wasteful);
  }
  return p.take();
}

std::vector<std::string> experiment_lines(const profile_view& v, const terminal_style& style) {
  page p(style);
  p.title("If one thing were different");
  std::vector<std::vector<cell>> rows;
  for (const experiment_gain& g : v.costliest.gains)
    rows.push_back({{stepwise::name_of(g.what)},
                    {time_text(g.us / 1000)},
                    {ratio_text(g.gain), g.gain >= 1.02 ? tone::good : tone::dim},
                    {experiment_words(g.what), tone::dim}});
  p.table({{"experiment"},
           {"time", true},
           {"speedup", true},
           {"change in the model", false, true, true}},
          rows);
  p.paragraph(
      fmt::format("{} takes {} now. A real change to the code may gain more or less, because it "
                  "also changes other things.",
                  v.costliest.kernel->kernel, time_text(v.costliest.kernel->timing.us / 1000)),
      tone::dim);
  return p.take();
}

std::vector<std::string> advice_lines(const profile_view& v, const terminal_style& style) {
  page p(style);
  p.title("4  What to try");
  constexpr std::size_t most_causes = 3;
  constexpr double frequent = 0.05;  // fraction of the instructions
  const char* const mark = style.unicode ? "\u2022 " : "* ";
  for (std::size_t n = 0; n < std::min(most_causes, v.found.size()); ++n) {
    const found_cause& f = v.found[n];
    std::string text = f.what == cause::idle_blocks
                           ? "Idle blocks: " + idle_blocks_text({*v.costliest.kernel})
                           : cause_words(f.what);
    if (f.what == cause::barriers && v.costliest.share_of(pipe::barrier) > frequent)
      text += fmt::format(
          " {} of the instructions are barriers (or fences and votes), most of "
          "them in line {}. Is each one needed?",
          percent(v.costliest.share_of(pipe::barrier)),
          place_text(line_with_most(v.costliest, pipe::barrier), v.costliest));
    if (f.what == cause::doubles)
      text += fmt::format(" Most of it is in line {}.",
                          place_text(line_with_most(v.costliest, pipe::fp64), v.costliest));
    if (f.gain > 1)
      text += fmt::format(" Without it, the model predicts {} the speed.", ratio_text(f.gain));
    p.paragraph(mark + text, tone::plain, 2);
  }
  if (v.of == nullptr) return p.take();
  p.line();
  add_next(p, v);
  return p.take();
}

}  // namespace stepwise::cli
