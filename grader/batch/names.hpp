// Finds the owner of a file from the names that platforms give to submitted files.
//
// idea    A pattern is a text with placeholders, "{name}_{id}_assignsubmission_file_/{file}".
//         names.cpp has a table of the platforms' patterns. A platform's name may begin at any
//         folder of the path, and the outermost folder that fits decides, because the platform
//         creates the outer folders and a student the inner ones. A match takes time in proportion
//         to the lengths of the pattern and the path, for all inputs.
// source  Canvas: USER_[LATE_]USERID_ATTACHMENT_FILE. Moodle:
//         NAME_PARTICIPANT_assignsubmission_file_. Gradescope: submission_N/FILE. nbgrader:
//         submitted/ID/ASSIGNMENT/FILE, and from its collector ID_attempt_TIME_FILE.
// Tested by tests/names_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise::batch {

// The parts of a name.
struct owner {
  std::string id, name, file;  // name: empty if only the id is known
  std::string time;            // as written; empty if none
  std::optional<bool> late;    // only if the platform marks it
  std::string number;          // the platform's, for a person or submission; empty: none
  std::size_t begin = 0;       // start of the name in the path, after the folders above it
};

class name_pattern {
 public:
  // "canvas", "moodle", "gradescope", "nbgrader", "plain", or a text with {id}, {file} and
  // optionally {name}, {time}, {late} ("LATE_" or nothing), {number} and {any}. Throws
  // failure(usage) for any other text.
  explicit name_pattern(const std::string& text);

  const std::string& text() const { return text_; }
  // True for the naming scheme of a platform; false for "plain" or a text with placeholders.
  bool is_platform() const { return is_platform_; }
  // Returns the owner of a path below the folder (separator "/"), or nullopt if the path does not
  // match. A platform's names begin at `from` or in the first folder after it that fits; other
  // patterns begin at 0.
  std::optional<owner> match(std::string_view path, std::size_t from = 0) const;

 private:
  struct part {
    enum class kind { text, place } what = kind::text;
    std::string text;  // the text itself, or the placeholder's name
  };
  using form = std::vector<part>;
  friend class form_match;
  void add(std::string_view one);
  std::optional<owner> match_here(std::string_view path, std::size_t begin) const;

  std::string text_;
  std::vector<form> forms_;
  bool is_platform_ = false, marks_late_ = false;
};

// The platform whose pattern fits most entries of the folder, or `plain` if none fits better.
// Entries are the items in the folder that all paths share. Each entry has one vote, however many
// files it contains.
name_pattern pattern_for(const std::vector<std::string>& paths);

// Seconds since 1970 for "2026-11-20T23:59:00Z", "2026-11-20 23:59:00.25 -08:00", "2026-11-20
// 23:59:00 UTC" and "2026-11-20-23-59-00", which is UTC like all times without a zone. nullopt for
// any other text.
std::optional<std::int64_t> time_of(std::string_view text);
std::string utc_text(std::int64_t seconds);  // "2026-11-20T23:59:00Z"

// A file name that is unique to this id: letters, digits, ".", "_", "-" and "%".
std::string file_name_for(std::string_view id);

std::string lower_case(std::string_view text);  // converts ASCII letters only
std::string base_name(std::string_view path);   // after the last "/" or "\\"
std::string shown(std::string_view name);       // in one line, without control characters

// Whether a path stays in its folder and looks as if a person had written it: relative, without
// ".." and control characters, at most 400 bytes.
bool is_tame(std::string_view path);
// The reason that a path is not tame, for example "leaves its folder". Empty if the path is tame.
std::string why_wild(std::string_view path);

}  // namespace stepwise::batch
