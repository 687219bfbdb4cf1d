// A table of figures, followed by what improved, what got worse, and the present limit.
#include "grader/cli/text/comparison_text.hpp"

#include <fmt/format.h>

#include "grader/cli/text/advice_words.hpp"
#include "grader/cli/text/page.hpp"

namespace stepwise::cli {
namespace {

std::string value_text(compared_figure::kind what, const std::optional<double>& value) {
  using kind = compared_figure::kind;
  if (!value) return "none";
  switch (what) {
    case kind::time_us:
      return time_text(*value / 1000);
    case kind::share:
      return fmt::format("{:.0f} %", 100 * *value);
    case kind::count:
      return count_text(*value);
    case kind::bytes:
      return bytes_text(*value);
    case kind::number:
      return fmt::format("{:.1f}", *value);
  }
  return {};
}

cell change_cell(const compared_figure& f) {
  if (!f.before || !f.after || f.what == compared_figure::kind::share) return {""};
  if (*f.before <= 0 || *f.after <= 0 || *f.before == *f.after) return {""};
  const double factor = *f.after / *f.before;
  const tone t = f.is_better() ? tone::good : f.is_worse() ? tone::bad : tone::dim;
  return {ratio_text(factor), t};
}

// A row of zeros carries no information.
bool is_empty(const compared_figure& f) {
  constexpr double nothing = 0.005;
  return f.before.value_or(0) < nothing && f.after.value_or(0) < nothing;
}

void list_changes(page& p, const call_comparison& c, const char* lead, bool better) {
  std::string text;
  for (const compared_figure& f : c.figures) {
    if (better ? !f.is_better() : !f.is_worse()) continue;
    text += (text.empty() ? "" : "; ") + fmt::format("{} {} to {}", f.name,
                                                     value_text(f.what, f.before),
                                                     value_text(f.what, f.after));
  }
  if (!text.empty()) p.paragraph(lead + text + ".");
}

}  // namespace

std::vector<std::string> comparison_lines(const call_comparison& c, const compared_names& names,
                                          const terminal_style& style) {
  page p(style);
  std::vector<std::vector<cell>> rows;
  for (const compared_figure& f : c.figures) {
    if (is_empty(f)) continue;
    rows.push_back(
        {{f.name}, {value_text(f.what, f.before)}, {value_text(f.what, f.after)}, change_cell(f)});
    if (rows.size() != 1) continue;
    if (names.before_ms || names.after_ms) {
      const auto recorded = [](const std::optional<double>& ms) {
        return cell{ms ? time_text(*ms) : "none", tone::dim};
      };
      rows.push_back(
          {{"time that the course recorded", tone::dim},
           recorded(names.before_ms),
           recorded(names.after_ms),
           {names.before_ms && names.after_ms ? ratio_text(*names.after_ms / *names.before_ms) : "",
            tone::dim}});
    }
    rows.push_back({{"limiter"}, {name_of(c.before.limit)}, {name_of(c.after.limit)}, {""}});
  }
  p.table({{"figure", false, true}, {names.before, true}, {names.after, true}, {"change", true}},
          rows);
  p.line();
  list_changes(p, c, "Better: ", true);
  list_changes(p, c, "Worse: ", false);
  p.line();
  p.paragraph(names.before + ": " + limit_sentence(c.before));
  p.paragraph(names.after + ": " + limit_sentence(c.after), tone::strong);
  return p.take();
}

json comparison_json(const call_comparison& c) {
  json all = json::array();
  for (const compared_figure& f : c.figures)
    all.push_back({{"figure", f.name},
                   {"before", f.before ? json(*f.before) : json(nullptr)},
                   {"after", f.after ? json(*f.after) : json(nullptr)},
                   {"better", f.is_better()},
                   {"worse", f.is_worse()}});
  return all;
}

}  // namespace stepwise::cli
