// A file that somebody edits: when is there a new text to look at?
//
// idea    The file's status is asked for again and again, which costs a microsecond. That works on
//         network folders, with editors that write a new file and rename it, and while the file is
//         away. Rejected: inotify, which is told nothing of what another machine writes, follows a
//         renamed file to its old name, and would need this as well.
// watch   A text counts once the file has been left alone for a moment: many editors truncate a
//         file first, or write it twice.
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

  // Looks once. True if there is a text other than the one that was taken last, and it has settled.
  bool has_news();
  // That text. has_news() must have been true.
  const std::string& take();
  bool is_there() const { return seen_.exists; }  // when it was looked at last

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
  std::chrono::steady_clock::time_point since_;  // `seen_` has been like that
  bool settled_ = false;                         // and was read
  std::optional<std::string> news_, taken_;
};

}  // namespace stepwise::cli
