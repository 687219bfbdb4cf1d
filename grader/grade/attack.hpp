// A file of the attack suite: what grading it must come to.
//
// idea    The first line says it, the next ones what it tries, so that a file is all that an attack
//         is:
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
  std::string step;  // of the course, instead of a file
  std::string lab;
  bool honest = false;
  std::vector<std::string> classes;  // one of them is expected
  double points = 0;                 // at most, of an attack; at least, of an honest one
  std::string what;
};

// Of a file's text; nothing if its first line is not of that form.
std::optional<attack> parse_attack(std::string_view text);

// Of a folder and those below it, by name; files without such a line are named in `others`.
std::vector<attack> find_attacks(const std::filesystem::path& folder,
                                 std::vector<std::string>& others);

// What grading gave.
struct graded_attack {
  std::string got;  // the class
  double points = 0;
  std::string broken;             // no document came, it was not judged, or what it quoted
  std::vector<std::string> left;  // processes, files, mounts
};

// A class and points that are expected, nothing broken, nothing left behind?
bool is_as_due(const attack& due, const graded_attack& got);

}  // namespace stepwise
