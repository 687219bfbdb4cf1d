// Watches a file that the user edits, and reports when it has a new text.
//
// idea    The file's status is polled, which costs a microsecond. Polling works on network folders,
//         with editors that write a new file and rename it, and while the file is missing.
//         Rejected: inotify, which misses changes from other machines, follows a renamed file to
//         its old name, and would need polling as well.
// watch   A text counts once the file has not changed for a moment, because many editors truncate a
//         file first or write it twice.
// Tested by tests/watch_cli_test.cpp.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "grader/system/files.hpp"

namespace stepwise::cli {

class saved_file {
 public:
  explicit saved_file(fs::path file) : file_(std::move(file)) {}

  // Checks the file once. Returns true if it has settled with a text that was not yet taken.
  bool has_news();
  // Takes that text. has_news() must have returned true.
  const std::string& take();
  bool is_there() const { return seen_.exists; }  // at the last look

 private:
  struct stamp {
    bool exists = false;
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const stamp&) const = default;
  };
  stamp look() const;

  fs::path file_;
  stamp seen_;
  std::chrono::steady_clock::time_point since_;  // time of the last change of `seen_`
  bool settled_ = false;                         // and its text was read
  std::optional<std::string> news_, taken_;
};

}  // namespace stepwise::cli
