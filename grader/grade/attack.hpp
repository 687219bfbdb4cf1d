// A file of the attack suite, and the expected result of grading it.
//
// idea    The first line has the expected result and the next lines describe the attempt, so an
//         attack is a single file:
//           // attack reduction: WRONG or CHECK, at most 0 points
//           // honest reduction: PASS or SLOW, at least 40 points
// Tested by tests/attack_test.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

struct attack {
  std::string name;  // "forging/41_exits"
  std::filesystem::path file;
  std::string step;  // a step of the course, instead of a file
  std::string lab;
  bool honest = false;
  std::vector<std::string> classes;  // the expected classes
  double points = 0;                 // the most for an attack, the least for an honest file
  std::string what;
};

// Parses a file's text. nullopt if its first line has another form.
std::optional<attack> parse_attack(std::string_view text);

// Searches a folder recursively, sorted by name. `others` gets files without such a line.
std::vector<attack> find_attacks(const std::filesystem::path& folder,
                                 std::vector<std::string>& others);

// The result of grading.
struct graded_attack {
  std::string got;  // the class
  double points = 0;
  std::string broken;             // no document, not judged, or a quoted secret
  std::vector<std::string> left;  // processes, files, mounts
};

// Whether class and points are as expected, nothing is broken, and nothing was left behind.
bool is_as_due(const attack& due, const graded_attack& got);

}  // namespace stepwise
