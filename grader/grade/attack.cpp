// Parses the first lines of attacks, and compares results with expectations.
#include "grader/grade/attack.hpp"

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "grader/system/files.hpp"

namespace stepwise {

std::optional<attack> parse_attack(std::string_view text) {
  static const std::regex form(
      "// (attack|honest) ([a-z]+): ([A-Z]+(?: or [A-Z]+)*), at (most|least) ([0-9]+) points");
  std::string line(text.substr(0, std::min<std::size_t>(text.find('\n'), 400)));
  while (line.ends_with('\r')) line.pop_back();
  std::smatch parts;
  if (!std::regex_match(line, parts, form)) return std::nullopt;
  attack a;
  a.honest = parts[1] == "honest";
  if (a.honest != (parts[4] == "least")) return std::nullopt;
  a.lab = parts[2];
  const std::string classes = parts[3];
  const std::string between = " or ";
  for (std::size_t begin = 0; begin <= classes.size();) {
    const auto end = std::min(classes.find(between, begin), classes.size());
    a.classes.push_back(classes.substr(begin, end - begin));
    begin = end + between.size();
  }
  a.points = std::atoi(parts[5].str().c_str());
  // The comment's next lines, up to an empty one.
  std::istringstream lines{std::string(text)};
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("// ")) {
    a.what += (a.what.empty() ? "" : " ") + line.substr(3);
  }
  return a;
}

std::vector<attack> find_attacks(const fs::path& folder, std::vector<std::string>& others) {
  std::vector<attack> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".cu") continue;
    const std::string name = entry.path().lexically_relative(folder).replace_extension();
    auto found = parse_attack(read_if_there(entry.path()).value_or(""));
    if (!found) {
      others.push_back(name);
      continue;
    }
    found->name = name;
    found->file = entry.path();
    all.push_back(*std::move(found));
  }
  std::sort(all.begin(), all.end(),
            [](const attack& a, const attack& b) { return a.name < b.name; });
  std::sort(others.begin(), others.end());
  return all;
}

bool is_as_due(const attack& due, const graded_attack& got) {
  return got.broken.empty() && got.left.empty() &&
         std::count(due.classes.begin(), due.classes.end(), got.got) > 0 &&
         (due.honest ? got.points >= due.points : got.points <= due.points);
}

}  // namespace stepwise
