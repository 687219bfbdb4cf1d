// Escapes every text, prints findings in the terminal's colours, and makes their JSON.
#include "grader/report/findings.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "common/report/finding_text.hpp"
#include "grader/report/text.hpp"

namespace stepwise {
namespace {

constexpr std::size_t most_findings = 1000;

void escape(host_place& place) {
  escape_name(place.file);
  escape_name(place.text);
  escape_name(place.function);
}

void escape(located_finding& found) {
  escape_name(found.what.message);
  escape_name(found.what.advice);
  escape_name(found.what.object.name);
  for (finding_party& p : found.what.parties) {
    for (std::string* text : {&p.action, &p.kernel, &p.at.file, &p.at.text, &p.at.inner}) {
      escape_name(*text);
    }
  }
  for (host_place* place : {&found.host, &found.allocated, &found.freed}) escape(*place);
}

finding_style plain_style(const std::filesystem::path& folder) {
  finding_style style;
  style.folder = folder;
  style.hidden = {"common/runner/", "stepwise::runner::"};
  return style;
}

// "sum.cu:14 and 16": both lines of a race if they are in the same file.
std::string places_of(const located_finding& found, const finding_style& style) {
  const std::string place = place_of(found, style);
  const auto& parties = found.what.parties;
  if (found.what.kind != finding_kind::race || parties.size() != 2 || place.empty()) return place;
  const code_place &own = parties[0].at, &other = parties[1].at;
  const bool is_second = other.line != 0 && other.line != own.line && other.file == own.file;
  return place + (is_second ? " and " + std::to_string(other.line) : "");
}

bool is_error(const located_finding& found) { return !is_warning(found.what.kind); }

// True if both findings are about an access by the same line to the same array.
bool share_an_access(const finding& race, const finding& outside) {
  const finding_object &one = race.object, &other = outside.object;
  const bool is_same =
      one.what == other.what && (one.name == other.name || one.name.empty() || other.name.empty());
  if (!is_same || outside.parties.empty()) return false;
  const code_place& at = outside.parties.front().at;
  return at.line != 0 && std::ranges::any_of(race.parties, [&](const finding_party& p) {
           return p.at.line == at.line && p.at.file == at.file;
         });
}

}  // namespace

tone tone_of(text_role role) {
  switch (role) {
    case text_role::error_kind:
      return tone::bad;
    case text_role::warning_kind:
      return tone::note;
    case text_role::strong:
      return tone::strong;
    case text_role::place:
      return tone::place;
    case text_role::dim:
      return tone::dim;
    case text_role::plain:
    case text_role::source:
      break;
  }
  return tone::plain;
}

void order_by_cause(std::vector<located_finding>& all) {
  std::stable_partition(all.begin(), all.end(), is_error);
  // An index that leaves its array is wrong, and often is another thread's index, too. The race is
  // found first because that thread's element exists.
  if (!all.empty() && all.front().what.kind == finding_kind::race) {
    const auto outside = std::ranges::find_if(all, [&](const located_finding& f) {
      return (f.what.kind == finding_kind::out_of_bounds ||
              f.what.kind == finding_kind::too_little_shared) &&
             share_an_access(all.front().what, f.what);
    });
    if (outside != all.end()) std::rotate(all.begin(), outside, outside + 1);
  }
  // A launch that failed, unchecked, is the reason that its kernel left memory unwritten.
  if (!all.empty() && all.front().what.kind == finding_kind::unwritten_copy)
    std::stable_partition(all.begin(), all.end(), [](const located_finding& f) {
      return f.what.kind == finding_kind::unchecked_error;
    });
}

std::vector<located_finding> without_copies(std::vector<located_finding> all) {
  std::erase_if(all, [](const auto& f) { return f.what.kind == finding_kind::unwritten_copy; });
  return all;
}

std::vector<located_finding> read_findings(const std::filesystem::path& file) {
  std::vector<located_finding> all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line) && all.size() < most_findings;) {
    auto found = parse_json_line(line);
    if (!found) continue;
    escape(*found);
    merge_into(all, std::move(*found));
  }
  order_by_cause(all);
  return all;
}

std::string findings_text(const std::vector<located_finding>& all, const terminal_style& style,
                          const std::filesystem::path& folder) {
  finding_style lines_style = plain_style(folder);
  lines_style.width = static_cast<std::size_t>(style.width);
  std::string text;
  for (const auto& found : all) {
    for (const text_line& line : finding_lines(found, lines_style)) {
      for (const text_span& span : line) text += style.paint(tone_of(span.role), span.text);
      text += '\n';
    }
    text += '\n';
  }
  return text;
}

std::string findings_line(const std::vector<located_finding>& all, const terminal_style& style) {
  const tone t = all.empty() ? tone::good : has_errors(all) ? tone::bad : tone::note;
  return style.paint(t, findings_summary(all));
}

std::string worst_finding(const std::vector<located_finding>& all,
                          const std::filesystem::path& folder) {
  if (all.empty()) return {};
  auto worst = std::find_if(all.begin(), all.end(), is_error);
  const bool is_explained = worst != all.end() &&
                            worst->what.kind == finding_kind::unwritten_copy &&
                            all.front().what.kind == finding_kind::unchecked_error;
  const bool has_errors = worst != all.end() && !is_explained;
  if (!has_errors) worst = all.begin();
  const std::string place = places_of(*worst, plain_style(folder));
  std::string text = title_of(worst->what.kind) + (place.empty() ? "" : " at " + place) + ": " +
                     worst->what.message;
  const auto others =
      (has_errors ? std::count_if(all.begin(), all.end(), is_error) : std::ssize(all)) - 1;
  if (others > 0)
    text += "; and " + std::to_string(others) + (others == 1 ? " more finding" : " more findings");
  return text + (worst->what.advice.empty() ? "" : ". " + worst->what.advice);
}

bool has_errors(const std::vector<located_finding>& all) {
  return std::any_of(all.begin(), all.end(), is_error);
}

json findings_json(const std::vector<located_finding>& all) {
  const auto errors = std::count_if(all.begin(), all.end(), is_error);
  json list = json::array();
  for (const auto& found : all) list.push_back(parse_json(json_line(found)));
  return {{"errors", errors},
          {"warnings", static_cast<std::ptrdiff_t>(all.size()) - errors},
          {"summary", findings_summary(all)},
          {"findings", std::move(list)}};
}

}  // namespace stepwise
