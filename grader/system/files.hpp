// Files that are whole or not there: reading, atomic writing, locks, temporary folders, a hash.
//
// Tested by tests/files_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace stepwise {

namespace fs = std::filesystem;

// nullopt if there is no such regular file, or it cannot be read.
std::optional<std::string> read_if_there(const fs::path& file);

// The same of at most `most_bytes`; nullopt if there is more. For what somebody else wrote.
// `through_links`: also if the file itself is a link.
std::optional<std::string> read_bounded(const fs::path& file, std::size_t most_bytes,
                                        bool through_links = true);

// A source file that somebody handed in: a regular one of at most 1 MiB. failure(usage) says what
// it is otherwise. Nothing else is opened: a FIFO would wait, a device answer for ever, and a link
// would have messages quote a file that only the reader may see. The folders above it may be links.
std::string read_handed_in(const fs::path& file);

// Throws failure(code) naming the file and the reason.
std::string read_file(const fs::path& file, int code);

// Writes a temporary file beside `file`, syncs it and renames it over `file`. On an error nothing
// is left behind, an existing file stays as it was, and failure(environment) says why.
void write_atomically(const fs::path& file, std::string_view content);

// failure as of write_atomically(file, ...), which may then be called long after.
void require_writable(const fs::path& file);

// Copies `content` to the first free name of FILE.kept-1, FILE.kept-2, ... and returns it.
fs::path keep_copy(const fs::path& file, std::string_view content);

// Makes the folder and its parents; failure(environment) if that is impossible.
void make_folder(const fs::path& folder);

// Holds an exclusive flock on a file (made if missing, and readable by all, so that other users can
// lock it, too) until destroyed. `waiting` is called once if another process holds it. Ctrl-C ends
// the wait.
class file_lock {
 public:
  template <class Callback>
  file_lock(const fs::path& file, Callback waiting) {
    open(file);
    if (try_lock()) return;
    waiting();
    wait();
  }
  explicit file_lock(const fs::path& file) : file_lock(file, [] {}) {}
  ~file_lock();
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;

 private:
  void open(const fs::path& file);
  bool try_lock();
  void wait();

  int descriptor_ = -1;
};

// A new folder below `parent`, removed with its content when destroyed. The first one that a
// process makes there also removes those of processes that were killed: folders of this user and
// machine whose lock nobody holds.
class temporary_folder {
 public:
  static constexpr std::string_view prefix = "stepwise-tmp-";  // of all their names
  explicit temporary_folder(const fs::path& parent);
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  int lock_ = -1;
};

// 128-bit FNV-1a, as 32 hexadecimal digits: names cache entries, defends against nothing.
class content_hash {
 public:
  content_hash& add(std::string_view part);  // parts are kept apart: ("ab", "c") != ("a", "bc")
  std::string hex() const;

 private:
  unsigned __int128 state_ =
      (static_cast<unsigned __int128>(0x6c62272e07bb0142) << 64) | 0x62b821756295c58d;
};

}  // namespace stepwise
