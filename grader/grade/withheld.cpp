// Goes through the texts of a report.
#include "grader/grade/withheld.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "grader/course/size.hpp"
#include "grader/report/text.hpp"

namespace stepwise {
namespace {

void replace_in(std::string& text, const std::vector<replacement>& all) {
  for (const auto& [from, to] : all)
    if (!from.empty()) replace_all(text, from, to);
}

void replace_in(code_place& place, const std::vector<replacement>& all) {
  for (std::string* text : {&place.file, &place.text, &place.inner}) replace_in(*text, all);
}

void replace_in(host_place& place, const std::vector<replacement>& all) {
  for (std::string* text : {&place.file, &place.text, &place.function}) replace_in(*text, all);
}

void replace_in(located_finding& found, const std::vector<replacement>& all) {
  for (std::string* text : {&found.what.message, &found.what.advice}) replace_in(*text, all);
  for (finding_party& party : found.what.parties) replace_in(party.at, all);
  for (host_place* place : {&found.host, &found.allocated, &found.freed, &found.unfinished})
    replace_in(*place, all);
}

}  // namespace

void replace_in(grade_report& report, const std::vector<replacement>& all) {
  replace_in(report.message, all);
  for (goal_result& g : report.goals) {
    replace_in(g.message, all);
    if (g.counted) replace_in(g.counted->costliest, all);
    if (g.speed) {
      replace_in(g.speed->found.message, all);
      replace_in(g.speed->label, all);
    }
  }
  if (!report.correctness) return;
  check_report& checked = *report.correctness;
  for (std::string* text : {&checked.found.message, &checked.label, &checked.printed})
    replace_in(*text, all);
  for (std::string& label : checked.right) replace_in(label, all);
  replace_in(checked.large, all);
  for (located_finding& found : checked.findings) replace_in(found, all);
}

void withhold_details(grade_report& report, const std::vector<lab_size>& hidden) {
  if (!report.correctness) return;
  check_report& found = *report.correctness;
  if (found.correct() || !found.size || std::count(hidden.begin(), hidden.end(), *found.size) == 0)
    return;
  const std::string withheld =
      fmt::format("{} at a hidden size: {}", name_of(found.found.what), size_text(*found.size));
  for (auto& g : report.goals)
    if (g.message == report.message) g.message = withheld;
  report.message = found.found.message = withheld;
  found.printed.clear();
}

}  // namespace stepwise
