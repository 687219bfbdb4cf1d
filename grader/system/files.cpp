// Writes to a temporary file and renames it, locks with flock, and hashes parts with their lengths.
#include "grader/system/files.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>

#include "grader/system/failure.hpp"
#include "grader/system/signals.hpp"

namespace stepwise {
namespace {

[[noreturn]] void fail_writing(const fs::path& file, int error) {
  std::string advice;
  if (error == ENOSPC || error == EDQUOT)
    advice = "; free some space there and run the command again";
  if (error == EACCES || error == EROFS || error == EPERM) {
    advice = "; check that you own the folder and that it is writable";
  }
  throw failure(exit_code::environment,
                "cannot write " + file.string() + ": " + strerror(error) + advice);
}

void write_all(int descriptor, std::string_view content, const fs::path& file,
               const fs::path& temporary) {
  int error = 0;
  while (!content.empty() && error == 0) {
    const ssize_t n = ::write(descriptor, content.data(), content.size());
    if (n >= 0) {
      content.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (error == 0 && fsync(descriptor) != 0 && errno != EINVAL) error = errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) {
    unlink(temporary.c_str());
    fail_writing(file, error);
  }
}

constexpr std::size_t most_handed_in = std::size_t{1} << 20;

std::string why_unreadable(const fs::path& file) {
  std::error_code ignored;
  return !fs::exists(file, ignored)        ? "there is no such file"
         : fs::is_directory(file, ignored) ? "it is a folder"
         : access(file.c_str(), R_OK) != 0 ? strerror(errno)
                                           : "it is not a regular file";
}

}  // namespace

std::optional<std::string> read_bounded(const fs::path& file, std::size_t most_bytes,
                                        bool through_links) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  // After this check, the file may have been replaced by a pipe, for which open() would wait, or by
  // a terminal, which would become the controlling terminal. The flags prevent both.
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
                                                  (through_links ? 0 : O_NOFOLLOW));
  if (descriptor < 0) return std::nullopt;
  struct stat about {};
  bool whole = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
               static_cast<std::uint64_t>(about.st_size) <= most_bytes;
  std::string content;
  char part[65536];
  while (whole) {
    const ssize_t n = ::read(descriptor, part, sizeof part);
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    whole = n > 0 && content.size() + static_cast<std::size_t>(n) <= most_bytes;
    if (whole) content.append(part, static_cast<std::size_t>(n));
  }
  close(descriptor);
  if (!whole) return std::nullopt;
  return content;
}

std::string read_handed_in(const fs::path& file) {
  if (auto content = read_bounded(file, most_handed_in, false)) return *std::move(content);
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(file, error))) {
    throw failure(
        exit_code::usage,
        "cannot read " + file.string() +
            ": it is a link, and submitted files are not read through links; name the file itself");
  }
  const auto bytes = fs::is_regular_file(file, error) ? fs::file_size(file, error) : 0;
  throw failure(exit_code::usage, "cannot read " + file.string() + ": " +
                                      (!error && bytes > most_handed_in
                                           ? "it has more than 1 MiB, the limit for a source file"
                                           : why_unreadable(file)));
}

std::optional<std::string> read_if_there(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::nullopt;
  std::ostringstream content;
  content << stream.rdbuf();
  return std::move(content).str();
}

std::string read_file(const fs::path& file, int code) {
  if (auto content = read_if_there(file)) return *std::move(content);
  throw failure(static_cast<exit_code>(code),
                "cannot read " + file.string() + ": " + why_unreadable(file));
}

void require_writable(const fs::path& file) {
  std::error_code ignored;
  if (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored)) {
    throw failure(exit_code::usage,
                  "cannot write " + file.string() + ": it is " +
                      (fs::is_directory(file, ignored) ? "a folder" : "not a regular file"));
  }
  make_folder(file.parent_path());
  std::string probe = file.string() + ".XXXXXX";
  const int descriptor = mkostemp(probe.data(), O_CLOEXEC);
  if (descriptor < 0) fail_writing(file, errno);
  close(descriptor);
  unlink(probe.c_str());
}

void write_atomically(const fs::path& file, std::string_view content) {
  make_folder(file.parent_path());
  std::string temporary = (file.parent_path() / ("." + file.filename().string() + ".XXXXXX"));
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) fail_writing(file, errno);
  fchmod(descriptor, 0644);
  write_all(descriptor, content, file, temporary);
  if (rename(temporary.c_str(), file.c_str()) != 0) {
    const int error = errno;
    unlink(temporary.c_str());
    fail_writing(file, error);
  }
}

fs::path keep_copy(const fs::path& file, std::string_view content) {
  for (int i = 1;; ++i) {
    const fs::path kept = file.string() + ".kept-" + std::to_string(i);
    const int descriptor = ::open(kept.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor >= 0) {
      write_all(descriptor, content, kept, kept);
      return kept;
    }
    if (errno != EEXIST) fail_writing(kept, errno);
  }
}

void make_folder(const fs::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_writing(folder, error.value());
}

void file_lock::open(const fs::path& file) {
  make_folder(file.parent_path());
  // Never follows another user's link, and never waits for another user's pipe.
  constexpr int always = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | always, 0644);
  const int why = errno;
  if (descriptor_ >= 0) {
    [[maybe_unused]] const int whatever_the_umask = fchmod(descriptor_, 0644);
  } else if (why == EACCES) {
    descriptor_ = ::open(file.c_str(), O_RDONLY | always);  // another user's file
  }
  if (descriptor_ < 0) fail_writing(file, why);
}

bool file_lock::try_lock() { return flock(descriptor_, LOCK_EX | LOCK_NB) == 0; }

void file_lock::wait() {
  // Polled rather than blocked in flock, so that a signal just before the wait is not lost.
  while (!try_lock()) {
    throw_if_interrupted();
    usleep(20'000);
  }
}

file_lock::~file_lock() {
  if (descriptor_ >= 0) close(descriptor_);
}

namespace {

// The prefix of this machine's names. Nodes of a cluster may share the parent folder but not its
// locks, so each node removes only its own folders.
std::string prefix_here() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return std::string(temporary_folder::prefix) + content_hash().add(host).hex().substr(0, 8) + "-";
}

// Locks the folder for as long as this process lives. -1 if another process holds the lock or if
// this is not a folder.
int locked_folder(const fs::path& folder, int how) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return -1;
  int outcome = 0;
  do outcome = flock(descriptor, how);
  while (outcome != 0 && errno == EINTR);
  if (outcome == 0) return descriptor;
  close(descriptor);
  return -1;
}

void remove_abandoned_folders(const fs::path& parent) {
  const std::string prefix = prefix_here();
  std::error_code error;
  for (fs::directory_iterator at(parent, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const fs::path& folder = at->path();
    if (!folder.filename().string().starts_with(prefix)) continue;
    struct stat about {};
    // Root gave some of its folders to the sandbox's user.
    if (lstat(folder.c_str(), &about) != 0 || (about.st_uid != geteuid() && geteuid() != 0))
      continue;
    const int lock = locked_folder(folder, LOCK_EX | LOCK_NB);
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    close(lock);
  }
}

// Runs once per folder in which this process creates temporary folders.
void tidy_once(const fs::path& parent) {
  static std::mutex guard;
  static std::set<fs::path> done;
  const std::lock_guard alone(guard);
  if (done.insert(parent).second) remove_abandoned_folders(parent);
}

}  // namespace

temporary_folder::temporary_folder(const fs::path& parent) {
  make_folder(parent);
  tidy_once(parent);
  struct stat about {};
  do {
    if (lock_ >= 0) close(lock_);
    std::string name = parent / (prefix_here() + "XXXXXX");
    if (mkdtemp(name.data()) == nullptr) fail_writing(parent, errno);
    path_ = name;
    lock_ = locked_folder(path_, LOCK_EX);
    // Before the folder was locked, another process may have removed it as abandoned.
  } while (lstat(path_.c_str(), &about) != 0);
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

content_hash& content_hash::add(std::string_view part) {
  constexpr unsigned __int128 prime = (static_cast<unsigned __int128>(1) << 88) | 0x13b;
  const auto mix = [&](std::uint64_t word) { state_ = (state_ ^ word) * prime; };
  mix(part.size());
  while (!part.empty()) {
    std::uint64_t word = 0;
    const std::size_t bytes = std::min(part.size(), sizeof word);
    std::memcpy(&word, part.data(), bytes);
    mix(word);
    part.remove_prefix(bytes);
  }
  return *this;
}

std::string content_hash::hex() const {
  std::string digits;
  for (int shift = 124; shift >= 0; shift -= 4) {
    digits += "0123456789abcdef"[static_cast<unsigned>(state_ >> shift) & 15];
  }
  return digits;
}

}  // namespace stepwise
