// The latest results of the student's own files, stored in the clone: .progress.json, which git
// ignores.
//
// idea    A lab's entry describes one text of its file, identified by its hash, so a reader can
//         tell if the file has changed since then. .progress.json is written whole, under a lock,
//         so that two simultaneous commands lose nothing.
// watch   .progress.json is a convenience, and commands work without it if it cannot be written. A
//         file that is malformed or of another version is kept next to the new file, and a message
//         names it.
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
  // The last command that judged goals. `text_of_goals` is the text that it judged.
  std::string text_of_goals;
  double points = 0, best = 0;        // best: over all texts
  std::vector<std::string> met;       // names of goals
  std::string packed = {};            // hash of the text that was packed last
  std::string verdict_of_goals = {};  // of `text_of_goals`
};

struct course_progress {
  std::map<std::string, lab_progress> labs;
  std::string trouble;  // why the file could not be read; empty: no error
};

std::filesystem::path progress_file(const std::filesystem::path& root);
std::string hash_of_text(std::string_view text);

course_progress load_progress(const std::filesystem::path& root);

// Replaces the lab's entry by `seen`. Without judged goals (`text_of_goals` empty), the entry's
// goals and points stay. `build` holds the lock. Does nothing if the clone is not writable.
void remember(const std::filesystem::path& root, const std::filesystem::path& build,
              const std::string& lab, lab_progress seen);

}  // namespace stepwise
