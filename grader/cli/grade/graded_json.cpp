// Makes the document of `lab grade`.
#include <fmt/core.h>

#include "grader/cli/grade/graded_file.hpp"
#include "grader/cli/text/term_line.hpp"
#include "grader/course/hints.hpp"
#include "grader/report/findings.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

// The sandbox of the process that holds the GPU.
json server_json(const gpu_care& care) {
  return {{"name", "the GPU's server"},
          {"active", care.missing.empty()},
          {"detail", care.missing.empty() ? "in the sandbox, with the GPU's nodes"
                                          : "without: " + care.missing}};
}

json sandbox_json(const graded_file& graded) {
  json layers = json::array();
  for (const auto& layer : graded.guards->layers) {
    const bool active = layer.active && runs_in_sandbox(graded.device);
    layers.push_back(
        {{"name", layer.name},
         {"active", active},
         {"detail", layer.active && !active
                        ? "on a GPU this layer protects only the compiler, not the program"
                        : layer.detail}});
  }
  if (graded.care) layers.push_back(server_json(*graded.care));
  return layers;
}

json counted_json(const goal& what, const goal_figure& figure) {
  json j = {{"counter", what.counter->name},
            {"size", what.size},
            {"value", figure.value ? json(*figure.value) : json(nullptr)},
            {what.side == bound::at_most ? "at_most" : "at_least", what.limit},
            {"costliest", nullptr}};
  if (figure.costliest.line != 0) {
    j["costliest"] = {{"file", figure.costliest.file},
                      {"line", figure.costliest.line},
                      {"text", figure.costliest.text}};
  }
  return j;
}

// Whether the file seems to contain the idea of the hint for a missed speed goal: it meets another
// goal with that hint, or a goal for a step that is no slower than this goal's step. In that case,
// only a profile can show what is missing.
bool has_its_idea(const grade_report& report, const goal_result& missed) {
  constexpr double as_fast = 1.02;
  return missed.what->is_speed() && std::ranges::any_of(report.goals, [&](const goal_result& g) {
           if (!g.passed.value_or(false)) return false;
           const bool both_reach = g.what->what == goal::kind::reach && g.modelled &&
                                   missed.what->what == goal::kind::reach && missed.modelled;
           return g.what->hint == missed.what->hint ||
                  (both_reach && g.modelled->other_ms <= as_fast * missed.modelled->other_ms);
         });
}

}  // namespace

help_at_hand help_for(const context& c, const lab& l, const grade_report& report) {
  const auto text = read_if_there(c.where.root / l.hints());
  return help_for(report, text ? parse_hints(*text) : std::vector<hint_topic>{});
}

help_at_hand help_for(const grade_report& report, const std::vector<hint_topic>& topics) {
  help_at_hand help;
  // If the checks found the error, the hint on reading their findings comes first.
  const bool found = report.what == verdict::check && report.correctness &&
                     has_errors(report.correctness->findings) &&
                     std::ranges::any_of(report.goals, [](const goal_result& g) {
                       return g.what->what == goal::kind::checks;
                     });
  const goal_result* first = nullptr;
  for (const auto& g : report.goals) {
    if (g.passed.value_or(true) || (found && g.what->what != goal::kind::checks)) continue;
    const int number = find_hint(topics, g.what->hint);
    if (first != nullptr && number >= help.number) continue;
    first = &g;
    help.number = number;
  }
  if (first == nullptr) return help;
  help.title = first->what->hint;
  if (first->what->counter != nullptr) help.terms = {term_of(*first->what->counter)};
  if (first->counted && first->counted->threads_of_block != 0) help.terms = {"warp"};
  // Bytes are wasted by uncoalesced accesses or by repeated reads.
  if (help.terms == std::vector<std::string>{"reuse"}) help.terms = {"coalescing", "reuse"};
  if (has_its_idea(report, *first)) help.number = 0;
  return help;
}

std::string points_text(double points, double judged, double all) {
  const std::string text = fmt::format("{:g} of {:g} points", points, all);
  return judged < all ? fmt::format("{} ({:g} not judged here)", text, all - judged) : text;
}

std::string remark_text(const graded_file& graded) {
  return "this file is " + graded.published + " apart from names, comments and white space";
}

bool runs_in_sandbox(const device_choice& device) { return !device.gpu || device.judged(); }

const char* trust_of(const device_choice& device) {
  return device.judged() ? "judged" : "practice";
}

json graded_json(const context& c, const graded_file& graded, const lab& l) {
  const grade_report& report = graded.report;
  json j = {{"lab", l.name},
            {"file", graded.what.shown},
            {"compiler_warnings", warnings_json(graded.what.warnings)},
            {"trust", trust_of(graded.device)},
            {"sandbox", sandbox_json(graded)},
            {"remarks", json::array()},
            {"device", device_json(graded.device)},
            {"class", name_of(report.what)},
            {"message", report.message},
            {"points", report.what == verdict::infra ? json(nullptr) : json(report.points)},
            {"max_points", report.max_points},
            {"time_budget", nullptr},
            {"seed", graded.seed},
            {"key", nullptr},
            {"hidden_sizes", graded.hidden.size()},
            {"answers", nullptr},
            {"hint", nullptr},
            {"goals", json::array()}};
  if (graded.budget)
    j["time_budget"] = {{"seconds", graded.budget->seconds()},
                        {"exceeded", graded.budget->exceeded()}};
  if (graded.key) j["key"] = {{"id", graded.key->id()}, {"public", graded.key->is_public()}};
  if (!graded.published.empty()) {
    j["remarks"].push_back(
        {{"kind", "published_step"}, {"step", graded.published}, {"text", remark_text(graded)}});
  }
  if (graded.answers) {
    j["answers"] = {{"file", graded.answers_file},
                    {"answered", graded.answers->answered},
                    {"questions", graded.answers->questions},
                    {"open", graded.answers->open},
                    {"deeper",
                     {{"answered", graded.beyond.answered},
                      {"questions", graded.beyond.questions},
                      {"open", graded.beyond.open}}}};
  }
  if (const help_at_hand help = help_for(c, l, report); help.number != 0)
    j["hint"] = {{"number", help.number}, {"title", help.title}};
  j.update(findings_json(report.correctness ? report.correctness->findings
                                            : std::vector<located_finding>{}));
  for (const auto& g : report.goals) {
    json entry = {{"name", g.what->name},
                  {"kind", name_of(g.what->what)},
                  {"points", g.points},
                  {"max_points", g.what->points},
                  {"passed", g.passed ? json(*g.passed) : json(nullptr)},
                  {"message", g.message}};
    if (g.speed && !g.speed->ratios.empty()) {
      const comparison& run = *g.speed;
      entry["speedup"] = {
          {"over", g.what->over},   {"at_least", g.what->limit}, {"ratio", run.ratio},
          {"low", run.range.low},   {"high", run.range.high},    {"pairs", run.ratios.size()},
          {"time_ms", run.mine_ms}, {"host_ms", run.host_ms},    {"other_time_ms", run.other_ms}};
    }
    if (g.modelled) {
      entry["modelled"] = {{"over", g.what->over},
                           {"at_least", g.what->modelled},
                           {"ratio", g.modelled->ratio},
                           {"time_ms", g.modelled->mine_ms},
                           {"other_time_ms", g.modelled->other_ms},
                           {"size", g.modelled->size},
                           {"modelled_as", g.modelled->gpu}};
    }
    if (g.counted) entry["counted"] = counted_json(*g.what, *g.counted);
    j["goals"].push_back(entry);
  }
  return j;
}

}  // namespace stepwise::cli
