// Lays out verdict, finding, time, changed counters, limit and goals within the screen's rows.
#include "grader/cli/watch/attempt_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "grader/course/hints.hpp"
#include "grader/course/source.hpp"
#include "grader/model/analysis.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {

verdict class_of(const attempt& a) {
  if (!a.compiles()) return verdict::compile;
  if (has_errors(deciding_findings(a.report))) return verdict::check;
  if (!a.report.correct()) return a.report.found.what;
  return a.report.findings.empty() ? verdict::pass : verdict::check;
}

namespace {

constexpr std::size_t label_width = 9, most_counters = 4, most_changed_goals = 3, most_todos = 3;
constexpr double same = 0.005;  // smaller changes are not shown

class lines_of {
 public:
  explicit lines_of(const terminal_style& style) : style_(style) {}
  void plain(std::string text) { lines_.push_back(std::move(text)); }
  // Wraps the text next to its label, in at most `most` lines.
  void labelled(const std::string& label, tone of_label, const std::string& text, tone t,
                std::size_t most) {
    const auto room = static_cast<std::size_t>(style_.width) - label_width - 2;
    // A table row has one line and keeps its spaces.
    auto pieces = most == 1 ? std::vector{text} : wrapped(text, room);
    if (pieces.size() > most) {
      pieces.resize(most);
      pieces.back() = shortened(pieces.back() + " ...", room);
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      std::string head = "  " + (i == 0 ? label : std::string());
      head.append(head.size() < label_width + 2 ? label_width + 2 - head.size() : 1, ' ');
      if (i == 0) head.replace(2, label.size(), style_.paint(of_label, label));
      lines_.push_back(head + style_.paint(t, shortened(pieces[i], room)));
    }
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  const terminal_style& style_;
  std::vector<std::string> lines_;
};

// Makes a position clickable in terminals and editors: the file's path from the root.
std::string clickable(std::string text, const answer_place& at) {
  const std::string name = fs::path(at.shown).filename().string() + ":";
  for (std::size_t from = 0; (from = text.find(name, from)) != std::string::npos;) {
    const bool begins = from == 0 || text[from - 1] == ' ' || text[from - 1] == '(';
    const bool numbered = from + name.size() < text.size() &&
                          std::isdigit(static_cast<unsigned char>(text[from + name.size()])) != 0;
    if (begins && numbered) text.replace(from, name.size(), at.shown + ":");
    from += at.shown.size() + 1;
  }
  return text;
}

// Describes the error. Empty if there is none.
std::string fault_of(const attempt& a, const answer_place& at) {
  if (!a.compiles()) return joined(a.made.explanation, "\n");
  std::string text;
  if (!a.report.findings.empty()) text = worst_finding(a.report.findings, at.root);
  if (a.report.correct()) return clickable(text, at);
  std::string wrong = a.report.found.message;
  if (!a.report.label.empty() && wrong.find(a.report.label) == std::string::npos)
    wrong = a.report.label + ": " + wrong;
  if (text.empty()) return clickable(wrong, at);
  return clickable(class_of(a) == verdict::wrong ? wrong + "\n" + text : text + "\n" + wrong, at);
}

std::string time_kind(const attempt& a) {
  return a.measured ? "measured" : "modelled, " + a.time.gpu;
}

std::string change_of_time(const attempt& a, const earlier_attempts& before) {
  if (!before.last_timed) return {};
  const double was = before.last_timed->time_ms(), ratio = was / a.time_ms();
  if (std::abs(ratio - 1) < same) return "as fast as before";
  return ratio > 1 ? fmt::format("{} faster than before ({})", ratio_text(ratio), time_text(was))
                   : fmt::format("slower: {} the previous time ({})", ratio_text(1 / ratio),
                                 time_text(was));
}

struct changed_figure {
  std::string name;
  double now = 0, was = 0;
  double size() const {
    return now > 0 && was > 0 ? std::abs(std::log(now / was)) : now == was ? 0 : 99;
  }
};

std::vector<changed_figure> changed(const attempt& a, const earlier_attempts& before) {
  std::vector<changed_figure> all;
  if (!before.last_timed || a.counters.empty()) return all;
  const auto value_in = [](const std::vector<named_figure>& figures, const std::string& name) {
    const auto found = std::ranges::find(figures, name, &named_figure::name);
    return found == figures.end() ? 0 : found->value;
  };
  for (const auto& f : a.counters)
    all.push_back({f.name, f.value, value_in(before.last_timed->counters, f.name)});
  for (const auto& f : before.last_timed->counters)
    if (std::ranges::find(a.counters, f.name, &named_figure::name) == a.counters.end())
      all.push_back({f.name, 0, f.value});
  std::erase_if(all, [](const changed_figure& f) { return f.size() < same; });
  std::ranges::stable_sort(all, std::greater<>{}, &changed_figure::size);
  return all;
}

std::string changed_figure_text(double value) {
  return value >= 1000 || value == std::floor(value) ? count_text(value)
                                                     : fmt::format("{:.2f}", value);
}

std::string limiter_text(const attempt& a) {
  const auto by_time = ranked(a.time.kernels);
  if (by_time.empty() || by_time[0]->timing.us <= 0) return {};
  const utilisation busy = utilisation_of(by_time[0]->timing);
  std::string text = fmt::format(
      "{}; busy: memory {:.0f} % ({}), compute {:.0f} % ({})", name_of(limiter_of(busy)),
      100 * busy.memory, name_of(busy.memory_part), 100 * busy.compute, name_of(busy.compute_part));
  if (by_time.size() > 1) text += ", of " + by_time[0]->kernel;
  return text;
}

// The first TODOs that are left in the file.
void add_todos(lines_of& lines, const answer_place& at) {
  const auto text = read_if_there(at.root / at.shown);
  const auto todos = text ? find_todos(*text) : std::vector<todo>{};
  for (std::size_t i = 0; i < std::min(todos.size(), most_todos); ++i)
    lines.labelled(i == 0 ? "TODO" : "", tone::note,
                   fmt::format("line {}: {}", todos[i].line, todos[i].text), tone::plain, 2);
  if (todos.size() > most_todos)
    lines.labelled("", tone::note, fmt::format("and {} more", todos.size() - most_todos), tone::dim,
                   1);
}

void add_goals(lines_of& lines, const attempt& a, const earlier_attempts& before,
               const answer_place& at) {
  double points = 0;
  std::size_t met = 0, open = 0;
  const auto hints = read_if_there(at.root / at.of.hints());
  const auto topics = hints ? parse_hints(*hints) : std::vector<hint_topic>{};
  const judged_goal* next = nullptr;  // the missed goal whose hint comes first, as in `grade`
  int number = 0;                     // of that hint
  std::vector<std::pair<std::string, tone>> changes;
  for (std::size_t i = 0; i < a.goals.size(); ++i) {
    const judged_goal& g = a.goals[i];
    const bool is = g.met.value_or(false);
    if (is) points += g.what->points, ++met;
    if (!g.met) ++open;
    const int of_goal = find_hint(topics, g.what->hint);
    if (g.met && !is && (next == nullptr || of_goal < number)) next = &g, number = of_goal;
    if (!before.last || !before.last->goals[i].met || !g.met) continue;
    if (is != *before.last->goals[i].met)
      changes.emplace_back((is ? "now met: " : "lost: ") + g.what->name,
                           is ? tone::good : tone::bad);
  }
  lines.labelled(
      "goals", tone::dim,
      fmt::format("{} of {} met, {:g} of {:g} points{}", met, a.goals.size(), points,
                  at.of.points(),
                  open > 0 ? fmt::format("; {} not judged here",
                                         open == 1 ? "1 goal" : fmt::format("{} goals", open))
                           : ""),
      tone::plain, 1);
  // Lost goals come first.
  std::ranges::stable_sort(changes, {}, [](const auto& c) { return c.second != tone::bad; });
  for (std::size_t i = 0; i < std::min(changes.size(), most_changed_goals); ++i)
    lines.labelled("", tone::dim, changes[i].first, changes[i].second, 1);
  if (changes.size() > most_changed_goals)
    lines.labelled("", tone::dim, fmt::format("and {} more", changes.size() - most_changed_goals),
                   tone::dim, 1);
  if (next == nullptr) {
    lines.labelled("next", tone::dim, "./lab grade " + at.of.name, tone::strong, 1);
    return;
  }
  std::string text = fmt::format("{} ({:g} points)", next->what->name, next->what->points);
  if (!next->figure.empty()) text += ": " + next->figure;
  lines.labelled("next", tone::dim, text, tone::strong, 3);
  if (number > 0)
    lines.labelled("", tone::dim, fmt::format("./lab hint {} {}", at.of.name, number), tone::plain,
                   1);
}

}  // namespace

std::vector<std::string> answer_lines(const attempt& a, const earlier_attempts& before,
                                      const answer_place& at) {
  lines_of lines(at.style);
  lines.plain(
      at.style.paint(tone::strong, at.shown) +
      at.style.paint(tone::dim, fmt::format("  {}, {:.1f} s", at.title, a.compile_s + a.run_s)));
  const verdict what = class_of(a);
  const std::string name(name_of(what));
  const std::string fault = fault_of(a, at);
  const auto warnings = warning_lines(a.made.warnings);
  for (std::size_t i = 0; i < warnings.size(); ++i) {
    if (warnings[i].empty()) continue;
    const bool is_source = i % 2 == 1;
    const bool is_count = !is_source && i == 2 * most_warnings_shown;
    lines.labelled(is_source || is_count ? "" : "warning", tone::note, warnings[i],
                   is_source ? tone::dim : tone::plain, is_source ? 1 : 2);
  }
  if (what == verdict::pass) {
    lines.labelled("right", tone::good,
                   fmt::format("{} sizes, nothing found at the small ones", a.report.right.size()),
                   tone::plain, 1);
  } else {
    bool first = true;
    for (std::size_t begin = 0; begin <= fault.size();) {
      const auto end = std::min(fault.find('\n', begin), fault.size());
      lines.labelled(first ? name : "", tone::bad, fault.substr(begin, end - begin),
                     first ? tone::strong : tone::plain, first ? 4 : 3);
      first = false;
      begin = end + 1;
    }
  }
  if (what != verdict::pass) add_todos(lines, at);
  if (before.last && class_of(*before.last) != what)
    lines.labelled("", tone::dim, fmt::format("before: {}", name_of(class_of(*before.last))),
                   tone::dim, 1);
  if (a.time_ms() > 0) {
    const std::string change = change_of_time(a, before);
    const bool faster = change.find("slower") == std::string::npos;
    lines.labelled("time", tone::dim,
                   fmt::format("{} ({}){}", time_text(a.time_ms()), time_kind(a),
                               change.empty() ? "" : ", " + change),
                   before.last_timed && !faster ? tone::bad : tone::strong, 2);
  } else if (a.right()) {
    lines.labelled("time", tone::dim,
                   a.is_untimed ? "is being modelled" : "none: " + a.time.why_no_time(),
                   tone::plain, 2);
  }
  const auto differs = changed(a, before);
  const auto name_width = static_cast<std::size_t>(std::clamp(at.style.width - 38, 12, 28));
  for (std::size_t i = 0; i < std::min(differs.size(), most_counters); ++i) {
    const auto& f = differs[i];
    const std::string ratio = f.now > 0 && f.was > 0 ? ratio_text(f.now / f.was) : "";
    lines.labelled(
        i == 0 ? "changed" : "", tone::dim,
        fmt::format("{:<{}} {:>8} -> {:<8} {}", shortened(f.name, name_width), name_width,
                    changed_figure_text(f.was), changed_figure_text(f.now), ratio),
        tone::plain, 1);
  }
  if (a.right())
    if (const std::string limit = limiter_text(a); !limit.empty())
      lines.labelled("limiter", tone::dim, limit, tone::note, 2);
  add_goals(lines, a, before, at);
  auto all = lines.take();
  if (at.rows > 4 && all.size() > at.rows - 1) {
    // The finding is shortened, because it is long, and the goals remain.
    const std::size_t extra = all.size() - (at.rows - 1) + 1;
    const auto from =
        all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(5, all.size()));
    const auto count =
        std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(extra), all.end() - from);
    *all.erase(from, from + count - 1) =
        at.style.paint(tone::dim, "           ... ./lab check " + at.of.name + " shows all of it");
  }
  return all;
}

json answer_json(const attempt& a, const earlier_attempts& before, const answer_place& at) {
  json j = {{"lab", at.of.name},
            {"subject", at.shown},
            {"class", name_of(class_of(a))},
            {"correct", a.right()},
            {"message", fault_of(a, at)},
            {"seconds", a.compile_s + a.run_s},
            {"time_ms", a.time_ms() > 0 ? json(a.time_ms()) : json(nullptr)},
            {"time_kind", a.time_ms() > 0 ? (a.measured ? "measured" : "modelled") : "none"},
            {"counters", json::array()},
            {"compiler_warnings", warnings_json(a.made.warnings)},
            {"goals", json::array()}};
  j["limiter"] = a.right() ? json(limiter_text(a)) : json(nullptr);
  j["faster"] = a.time_ms() > 0 && before.last_timed
                    ? json(before.last_timed->time_ms() / a.time_ms())
                    : json(nullptr);
  for (const auto& f : a.counters) j["counters"].push_back({{"name", f.name}, {"value", f.value}});
  for (const auto& g : a.goals)
    j["goals"].push_back({{"name", g.what->name},
                          {"points", g.what->points},
                          {"passed", g.met ? json(*g.met) : json(nullptr)}});
  return j;
}

}  // namespace stepwise::cli
