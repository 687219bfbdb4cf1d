// The owner of a file: the names that platforms give to submitted files.
//
// idea    A pattern is a text with places, "{name}_{id}_assignsubmission_file_/{file}". Those of
// the
//         platforms are a table in names.cpp. A platform's names may begin in a folder of the path,
//         and the outermost folder that fits decides: the platform made the outer folders, and a
//         student made the inner ones. A match takes time in proportion to the lengths of pattern
//         and path, whatever both are.
// source  Canvas: USER_[LATE_]USERID_ATTACHMENT_FILE. Moodle:
//         NAME_PARTICIPANT_assignsubmission_file_. Gradescope: submission_N/FILE. nbgrader:
//         submitted/ID/ASSIGNMENT/FILE, of its collector ID_attempt_TIME_FILE.
// Tested by tests/names_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise::batch {

// What a name says.
struct owner {
  std::string id, name, file;  // name: empty if there is none beside the id
  std::string time;            // as it is written; empty: none
  std::optional<bool> late;    // only where the platform marks it
  std::string number;          // the platform's own for a person or a submission; empty: none
  std::size_t begin = 0;       // of the name in the path: the end of the folders above it
};

class name_pattern {
 public:
  // "canvas", "moodle", "gradescope", "nbgrader", "plain", or a text with {id}, {file} and perhaps
  // {name}, {time}, {late} ("LATE_" or nothing), {number} and {any}. failure(usage) if it is
  // neither.
  explicit name_pattern(const std::string& text);

  const std::string& text() const { return text_; }
  // One of the platforms that name what they hand over; not plain, and not a text.
  bool is_platform() const { return is_platform_; }
  // Returns the owner of a path below the folder (separator "/"), or nothing if the path does not
  // match. A platform's names begin at `from` or in the first folder after it that fits; other
  // patterns begin at 0.
  std::optional<owner> match(std::string_view path, std::size_t from = 0) const;

 private:
  struct part {
    enum class kind { text, place } what = kind::text;
    std::string text;  // the text itself, or the name of the place
  };
  using form = std::vector<part>;
  friend class form_match;
  void add(std::string_view one);
  std::optional<owner> match_here(std::string_view path, std::size_t begin) const;

  std::string text_;
  std::vector<form> forms_;
  bool is_platform_ = false, marks_late_ = false;
};

// The platform whose pattern fits most entries of the folder, `plain` where none fits better. An
// entry is what lies in the folder that all paths share, and has one vote however many files a
// student put into it.
name_pattern pattern_for(const std::vector<std::string>& paths);

// Seconds since 1970 of "2026-11-20T23:59:00Z", "2026-11-20 23:59:00.25 -08:00",
// "2026-11-20 23:59:00 UTC" and "2026-11-20-23-59-00"; without a zone it is UTC. Nothing for
// anything else.
std::optional<std::int64_t> time_of(std::string_view text);
std::string utc_text(std::int64_t seconds);  // "2026-11-20T23:59:00Z"

// A file name for this id and no other: letters, digits, ".", "_", "-" and "%".
std::string file_name_for(std::string_view id);

std::string lower_case(std::string_view text);  // of ASCII letters
std::string base_name(std::string_view path);   // after the last "/" or "\\"
std::string shown(std::string_view name);       // in one line, without control characters

// Does a path stay in its folder, and is it one that people write: relative, no "..", no control
// characters, at most 400 bytes?
bool is_tame(std::string_view path);
// What is wrong with a path that is not: "leaves its folder".
std::string why_wild(std::string_view path);

}  // namespace stepwise::batch
