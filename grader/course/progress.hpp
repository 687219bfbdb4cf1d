// What became of the student's own files, remembered in the clone: .progress.json, which git
// ignores.
//
// idea    A lab's entry is about one text of its file, by its hash: whoever shows it can tell
//         whether the file has changed since. Written whole, under a lock, so that two commands at
//         once lose nothing.
// watch   It is a convenience: where it cannot be written, commands do without. A file that is
//         broken or of another version is kept beside the new one, and named.
// Tested by tests/progress_test.cpp.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

struct lab_progress {
  std::string text;     // hash of the file's text; see hash_of_text()
  std::string by;       // "run", "check", "grade", "watch"
  std::string verdict;  // "PASS", "WRONG", ...
  std::string when;     // "2026-11-22T10:00:00Z"
  // Of the last command that judged goals; `text_of_goals` is the text that it judged.
  std::string text_of_goals;
  double points = 0, best = 0;   // best: of all texts
  std::vector<std::string> met;  // names of goals
};

struct course_progress {
  std::map<std::string, lab_progress> labs;
  std::string trouble;  // why the file could not be read; empty: nothing is wrong with it
};

std::filesystem::path progress_file(const std::filesystem::path& root);
std::string hash_of_text(std::string_view text);

course_progress load_progress(const std::filesystem::path& root);

// `seen` takes the place of the lab's entry. Without judged goals (`text_of_goals` empty) the
// entry's goals and points stay. `build` is where the lock is. Where nothing can be written,
// nothing is remembered.
void remember(const std::filesystem::path& root, const std::filesystem::path& build,
              const std::string& lab, lab_progress seen);

}  // namespace stepwise
