// Files that are complete or missing: reading, atomic writing, locks, temporary folders, a hash.
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

// nullopt if there is no such regular file or it cannot be read.
std::optional<std::string> read_if_there(const fs::path& file);

// Like read_if_there(), but returns nullopt if the file has more than `most_bytes`. For untrusted
// files. `through_links` allows the file itself to be a link.
std::optional<std::string> read_bounded(const fs::path& file, std::size_t most_bytes,
                                        bool through_links = true);

// Reads a submitted source file, a regular file of at most 1 MiB. For any other file, throws
// failure(usage) and opens nothing: a FIFO would block, a device never ends, and through a link,
// messages could quote a file that only the reader may see. Parent folders may be links.
std::string read_handed_in(const fs::path& file);

// Throws failure(code) naming the file and the reason.
std::string read_file(const fs::path& file, int code);

// Writes a temporary file next to `file`, syncs it and renames it over `file`. On an error, leaves
// an existing file unchanged, removes the temporary file, and throws failure(environment).
void write_atomically(const fs::path& file, std::string_view content);

// Throws like write_atomically(file, ...), so that a long computation can check first.
void require_writable(const fs::path& file);

// Copies `content` to the first free name of FILE.kept-1, FILE.kept-2, ... and returns that name.
fs::path keep_copy(const fs::path& file, std::string_view content);

// Creates the folder and its parents. Throws failure(environment) if that is impossible.
void make_folder(const fs::path& folder);

// Holds an exclusive flock on a file until destroyed. The file is created if it is missing,
// readable for all, so that other users can lock it, too. `waiting` is called once if another
// process holds the lock. Ctrl-C ends the wait.
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

// A new folder below `parent`, removed with its content when destroyed. The first such folder that
// a process creates there also removes the folders of killed processes: those of this user and
// machine whose lock is free.
class temporary_folder {
 public:
  static constexpr std::string_view prefix = "stepwise-tmp-";  // of all such folders
  explicit temporary_folder(const fs::path& parent);
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  int lock_ = -1;
};

// 128-bit FNV-1a of words of eight bytes, as 32 hexadecimal digits. It names cache entries and is
// not secure. Byte by byte, it took a twentieth of a grade to hash this program.
class content_hash {
 public:
  content_hash& add(std::string_view part);  // parts are separate: ("ab", "c") != ("a", "bc")
  std::string hex() const;

 private:
  unsigned __int128 state_ =
      (static_cast<unsigned __int128>(0x6c62272e07bb0142) << 64) | 0x62b821756295c58d;
};

}  // namespace stepwise
