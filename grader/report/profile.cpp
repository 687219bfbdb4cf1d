// Escapes the profile's texts, prints it in the terminal's width, and makes its JSON.
#include "grader/report/profile.hpp"

#include <fstream>

#include "common/report/profile_json.hpp"
#include "common/report/profile_text.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/text.hpp"

namespace stepwise {
namespace {

constexpr std::size_t most_kernels = 1000;

void escape(line_profile& l) {
  for (std::string* text : {&l.at.file, &l.at.text, &l.at.inner, &l.path}) escape_name(*text);
  for (std::string& note : l.notes) escape_name(note);
  for (line_profile& inner : l.inner) escape(inner);
}

}  // namespace

counted_work read_profile(const std::filesystem::path& file) {
  counted_work found;
  std::vector<kernel_profile>& all = found.kernels;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line) && all.size() < most_kernels;) {
    auto kernels = parse_profile(line);
    if (!kernels) continue;
    found.transfers += transfers_in_profile(line);
    for (kernel_profile& k : *kernels) {
      escape_name(k.kernel);
      escape_name(k.mangled);
      escape_name(k.uncounted);
      for (line_profile& l : k.lines) escape(l);
      all.push_back(std::move(k));
    }
  }
  return found;
}

std::string read_failure(const std::filesystem::path& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (std::string failed = failure_in_profile(line); !failed.empty()) {
      escape_name(failed);
      return failed;
    }
  return {};
}

std::string profile_shown(const std::vector<kernel_profile>& kernels, const terminal_style& style) {
  std::string text;
  for (const kernel_profile& k : merged_grids(kernels)) {
    for (const text_line& line : profile_lines(k, {static_cast<std::size_t>(style.width), true})) {
      for (const text_span& span : line) text += style.paint(tone_of(span.role), span.text);
      text += '\n';
    }
    text += '\n';
  }
  return text;
}

json profile_document(const std::vector<kernel_profile>& kernels) {
  return parse_json(profile_json(kernels))["kernels"];
}

}  // namespace stepwise
