// Locks units of memory as files, in the order of a queue.
#include "grader/system/admission.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/signals.hpp"

namespace stepwise {
namespace {

constexpr std::uint64_t bytes_of_a_unit = std::uint64_t{10} << 20;
constexpr useconds_t pause_us = 100'000;

// An open file, which keeps its flock until it is closed.
struct open_lock {
  explicit open_lock(const fs::path& file)
      : descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (descriptor < 0)
      throw failure(exit_code::environment,
                    "cannot write " + file.string() + ": " + strerror(errno));
  }
  ~open_lock() { close(descriptor); }
  open_lock(const open_lock&) = delete;
  open_lock& operator=(const open_lock&) = delete;
  bool try_lock() const { return flock(descriptor, LOCK_EX | LOCK_NB) == 0; }
  const int descriptor;
};

std::uint64_t number_of_file(const fs::path& file) {
  std::ifstream stream(file);
  std::uint64_t number = 0;
  return stream >> number ? number : std::numeric_limits<std::uint64_t>::max();
}

// The number after `key` in a file with lines "key number". 0 if there is none.
std::uint64_t number_after(const fs::path& file, std::string_view key) {
  std::ifstream lines(file);
  std::uint64_t number = 0;
  for (std::string name, rest; lines >> name >> number && std::getline(lines, rest);)
    if (name == key) return number;
  return 0;
}

// Memory left below the limit of one control group. Unused file pages count as free, because the
// kernel drops them before it refuses memory.
std::uint64_t left_in(const fs::path& limit, const fs::path& usage, std::string_view unused_files) {
  constexpr std::uint64_t unlimited = std::uint64_t{1} << 60;
  const std::uint64_t most = number_of_file(limit), used = number_of_file(usage);
  if (most >= unlimited || used >= unlimited) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t kept =
      used - std::min(used, number_after(usage.parent_path() / "memory.stat", unused_files));
  return most > kept ? most - kept : 0;
}

}  // namespace

shared_memory_budget::shared_memory_budget(fs::path folder, std::uint64_t bytes)
    : folder_(std::move(folder)),
      units_(std::clamp<std::size_t>(static_cast<std::size_t>(bytes / bytes_of_a_unit), 1, 4096)) {
  make_folder(folder_);
}

std::optional<shared_memory_budget> shared_memory_budget::of_environment() {
  const char* const set = std::getenv("STEPWISE_MEMORY");
  if (set == nullptr) return std::nullopt;
  char* end = nullptr;
  const unsigned long long megabytes = std::strtoull(set, &end, 10);
  if (megabytes == 0 || *end != ':' || end[1] != '/') return std::nullopt;
  return shared_memory_budget(end + 1, megabytes * 1'000'000);
}

std::string shared_memory_budget::environment() const {
  return "STEPWISE_MEMORY=" + std::to_string((bytes() + 999'999) / 1'000'000) + ":" +
         folder_.string();
}

std::uint64_t shared_memory_budget::bytes() const { return units_ * bytes_of_a_unit; }

std::uint64_t memory_reservation::bytes() const { return held_.size() * bytes_of_a_unit; }

memory_reservation shared_memory_budget::take(std::uint64_t bytes,
                                              const std::function<void()>& waiting) const {
  const std::size_t wanted = std::min<std::size_t>(
      units_, static_cast<std::size_t>((bytes + bytes_of_a_unit - 1) / bytes_of_a_unit));
  const open_lock queue(folder_ / "queue");
  const auto wait = [&] {
    throw_if_interrupted();
    waiting();
    usleep(pause_us);
  };
  while (!queue.try_lock()) wait();
  memory_reservation taken;
  std::size_t next = 0;
  while (taken.held_.size() < wanted) {
    if (next == units_) {
      next = 0;
      wait();
    }
    // This fails for a unit that we hold already, because a second open file has a separate lock.
    auto one = std::make_shared<open_lock>(folder_ / ("unit-" + std::to_string(next++)));
    if (one->try_lock()) taken.held_.push_back(std::move(one));
  }
  return taken;
}

std::uint64_t memory_left_in_groups(std::string_view memberships, const fs::path& root) {
  std::uint64_t left = std::numeric_limits<std::uint64_t>::max();
  std::istringstream lines{std::string(memberships)};
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string kind = line.substr(first + 1, second - first - 1);
    if (!kind.empty() && kind != "memory") continue;
    // A container sees its own group as the root, where the path in `memberships` does not exist.
    for (fs::path path = fs::path(line.substr(second + 1)).relative_path();;
         path = path.parent_path()) {
      const fs::path group = kind.empty() ? root / path : root / "memory" / path;
      left = std::min(
          left, kind.empty()
                    ? left_in(group / "memory.max", group / "memory.current", "inactive_file")
                    : left_in(group / "memory.limit_in_bytes", group / "memory.usage_in_bytes",
                              "total_inactive_file"));
      if (path.empty()) break;
    }
  }
  return left;
}

std::uint64_t usable_memory() {
  const std::uint64_t available = number_after("/proc/meminfo", "MemAvailable:") << 10;
  const std::uint64_t left =
      memory_left_in_groups(read_if_there("/proc/self/cgroup").value_or(""), "/sys/fs/cgroup");
  return available == 0 ? left : std::min(available, left);
}

}  // namespace stepwise
