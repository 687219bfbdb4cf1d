// Lines of "name  value". A bar precedes each line of a student's text.
#include "grader/publish/explain.hpp"

#include <fmt/core.h>

#include "grader/publish/escape.hpp"

namespace stepwise::publish {
namespace {

std::string row(const char* what, const std::string& value) {
  return fmt::format("  {:<12} {}\n", what, harmless_line(value));
}

std::string speed_text(const speed& s) {
  std::string text = fmt::format("{}x over {}, goal {}x: {} ms against {} ms", number_text(s.ratio),
                                 harmless_line(s.over), number_text(s.at_least),
                                 number_text(s.time_ms), number_text(s.other_ms));
  return text + (s.modelled_as.empty()
                     ? fmt::format("; 95 % interval {}x to {}x, {} pairs", number_text(s.low),
                                   number_text(s.high), s.pairs)
                     : "; modelled as " + harmless_line(s.modelled_as) + ", no interval");
}

}  // namespace

std::string explanation(const entry& e, const std::string& file, const std::string& again,
                        const std::vector<std::string>& differing) {
  std::string text = fmt::format("{}: {}, {}\n", harmless_line(e.id, 100),
                                 harmless_line(e.verdict, 20), points_text(e));
  if (!e.message.empty()) text += quoted_lines(e.message, "  ");
  text += "\nhanded in\n";
  if (!e.name.empty()) text += row("name", e.name);
  text += row("file", e.file.empty() ? "none" : e.file);
  text += row("content", e.submission.empty() ? "none" : e.submission);
  if (!e.submission.empty()) text += row("saved in", file);
  text += row("at", e.submitted_at.empty() ? "unknown" : e.submitted_at);
  text += row("late", !e.late    ? "unknown"
                      : !*e.late ? "no"
                      : e.late_s ? number_text(*e.late_s) + " s"
                                 : "yes");
  for (const auto& note : e.notes) text += row("note", note);
  text += "\ngraded\n";
  text += row("at", e.graded_at + ", " + e.host + ", " + number_text(e.seconds) + " s, attempt " +
                        std::to_string(e.attempts));
  text += row("device", e.device) + row("trust", e.trust);
  if (e.seed) text += row("seed", *e.seed);
  if (e.document.is_object()) {
    const auto hidden = e.document.find("hidden_sizes");
    if (hidden != e.document.end()) text += row("hidden sizes", hidden->dump());
    const auto printed = e.document.find("findings");
    if (printed != e.document.end() && printed->size() > 0)
      text += row("findings", e.document.value("summary", ""));
  }
  for (const auto& layer : e.missing_layers) text += row("unprotected", layer);
  if (!e.remark.empty()) text += row("remark", e.remark);
  text += "\nversions\n";
  for (const auto& [key, value] : e.key.items())
    if (key != "submission" && value.is_string())
      text += row(key.c_str(), value.get<std::string>());
  for (const auto& part : differing) text += row("differs now", part);
  if (!e.goals.empty()) text += "\ngoals\n";
  for (const auto& g : e.goals) {
    text += fmt::format("  {:<8} {:>5} of {:<5} {}\n",
                        !g.passed   ? "-"
                        : *g.passed ? "met"
                                    : "missed",
                        number_text(g.points), number_text(g.max_points), harmless_line(g.name));
    if (!g.message.empty()) text += quoted_lines(g.message, "           ");
    if (g.fast) text += "           " + speed_text(*g.fast) + "\n";
  }
  if (!again.empty()) text += "\nagain\n  " + again + "\n";
  return text;
}

}  // namespace stepwise::publish
