// The owner of a file: the names that platforms give to submitted files.
//
// idea    A pattern is a text with places, "{name}_{id}_assignsubmission_file_/{file}", and becomes
//         a regular expression. Those of the platforms are a table in names.cpp; the one that fits
//         most files of a folder is taken.
// source  Canvas: USER_[LATE_]USERID_ATTACHMENT_FILE. Moodle:
//         NAME_PARTICIPANT_assignsubmission_file_. Gradescope: submission_N/FILE. nbgrader:
//         submitted/ID/ASSIGNMENT/FILE, of its collector ID_attempt_TIME_FILE.
// Tested by tests/names_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise::batch {

// What a name says.
struct owner {
  std::string id, name, file;  // name: empty if there is none beside the id
  std::string time;            // as it is written; empty: none
  std::optional<bool> late;    // only where the platform marks it
};

class name_pattern {
 public:
  // "canvas", "moodle", "gradescope", "nbgrader", "plain", or a text with {id}, {file} and perhaps
  // {name}, {time}, {late} ("LATE_" or nothing), {number} and {any}. failure(usage) if it is
  // neither.
  explicit name_pattern(const std::string& text);

  const std::string& text() const { return text_; }
  // Of a path below the folder, with "/"; nothing if it does not fit.
  std::optional<owner> match(std::string_view path) const;

 private:
  struct form {
    std::regex expression;
    std::vector<std::string> places;  // of its groups
  };
  void add(std::string_view one);

  std::string text_;
  std::vector<form> forms_;  // the first that fits
  bool marks_late_ = false;
};

// The platform whose pattern fits most of these paths, `plain` where none fits better.
name_pattern pattern_for(const std::vector<std::string>& paths);

// Seconds since 1970 of "2026-11-20T23:59:00Z", "2026-11-20 23:59:00.25 -08:00",
// "2026-11-20 23:59:00 UTC" and "2026-11-20-23-59-00"; without a zone it is UTC. Nothing for
// anything else.
std::optional<std::int64_t> time_of(std::string_view text);
std::string utc_text(std::int64_t seconds);  // "2026-11-20T23:59:00Z"

// A file name for this id and no other: letters, digits, ".", "_", "-" and "%".
std::string file_name_for(std::string_view id);

std::string lower_case(std::string_view text);  // of ASCII letters

// Does a path stay in its folder, and is it one that people write: relative, no "..", no control
// characters, at most 400 bytes?
bool is_tame(std::string_view path);

}  // namespace stepwise::batch
