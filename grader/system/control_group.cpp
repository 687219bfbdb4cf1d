// Finds our own groups, creates one below them, sets its limits, and removes it and its members.
#include "grader/system/control_group.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include "grader/system/files.hpp"

namespace stepwise {
namespace {

// Reads a file of the kernel. Such a file has no size and is written at once.
std::string read_all(const std::string& file) {
  std::string text;
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return text;
  char buffer[4096];
  for (ssize_t n; (n = read(descriptor, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(descriptor);
  return text;
}

bool write_to(const std::string& file, const std::string& text) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool done = write(descriptor, text.data(), text.size()) == std::ssize(text);
  const int error = errno;
  close(descriptor);
  errno = error;
  return done;
}

// The number after `name`, or the whole text as a number if `name` is empty.
std::uint64_t number_in(const std::string& text, const std::string& name) {
  std::istringstream words(text);
  for (std::string word, value; words >> word;) {
    if (name.empty()) return std::strtoull(word.c_str(), nullptr, 10);
    if (word == name && words >> value) return std::strtoull(value.c_str(), nullptr, 10);
  }
  return 0;
}

bool has_word(const std::string& text, const std::string& wanted, char separator) {
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, separator);) {
    while (word.ends_with('\n')) word.pop_back();
    if (word == wanted) return true;
  }
  return false;
}

// The mount point of a hierarchy, and the group that it shows as its root.
struct hierarchy {
  std::string mount, root;
};

// `controller` is from version 1; empty: version 2.
std::optional<hierarchy> find_hierarchy(const std::string& controller) {
  std::istringstream lines(read_all("/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash)), after(line.substr(dash + 3));
    std::string id, parent, device, root, mount, type, source, options;
    before >> id >> parent >> device >> root >> mount;
    after >> type >> source >> options;
    if (controller.empty() ? type == "cgroup2"
                           : type == "cgroup" && has_word(options, controller, ',')) {
      return hierarchy{mount, root};
    }
  }
  return std::nullopt;
}

// The folder of our own group.
std::optional<std::string> own_folder(const std::string& controller) {
  const auto where = find_hierarchy(controller);
  if (!where) return std::nullopt;
  std::istringstream lines(read_all("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? !names.empty() : !has_word(names, controller, ',')) continue;
    std::string path = line.substr(second + 1);
    if (where->root != "/" && path.starts_with(where->root)) path.erase(0, where->root.size());
    return path == "/" ? where->mount : where->mount + path;
  }
  return std::nullopt;
}

// Removes groups of a killed `lab`. The groups are empty, because their members died with it.
void remove_abandoned(const std::string& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("stepwise-")) continue;
    const pid_t owner = std::atoi(name.c_str() + 9);
    if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH) rmdir(entry.path().c_str());
  }
}

std::string new_folder(const std::string& parent) {
  static std::atomic<int> number{0};
  remove_abandoned(parent);
  const std::string folder =
      parent + "/stepwise-" + std::to_string(getpid()) + "-" + std::to_string(++number);
  return mkdir(folder.c_str(), 0755) == 0 ? folder : std::string{};
}

void kill_members(const std::string& folder) {
  if (write_to(folder + "/cgroup.kill", "1")) return;
  std::istringstream members(read_all(folder + "/cgroup.procs"));
  for (pid_t id; members >> id;) {
    if (id > 1 && id != getpid()) kill(id, SIGKILL);
  }
}

bool limit_both(const std::string& folder, const group_limits& limits) {
  write_to(folder + "/memory.swap.max", "0");
  return (limits.memory_bytes == 0 ||
          write_to(folder + "/memory.max", std::to_string(limits.memory_bytes))) &&
         (limits.processes == 0 ||
          write_to(folder + "/pids.max", std::to_string(limits.processes)));
}

}  // namespace

std::shared_ptr<control_group> control_group::make(const group_limits& limits,
                                                   std::string& why_not) {
  const std::shared_ptr<control_group> group(new control_group);
  const auto add = [&](const std::string& parent) {
    const std::string folder = new_folder(parent);
    if (folder.empty()) {
      why_not = "cannot create a group below " + parent + ": " + strerror(errno);
      return std::string{};
    }
    group->folders_.push_back(folder);
    group->members_.push_back(folder + "/cgroup.procs");
    return folder;
  };
  const auto unified = own_folder("");
  if (unified && has_word(read_all(*unified + "/cgroup.subtree_control"), "memory", ' ')) {
    const std::string folder = add(*unified);
    if (folder.empty()) return nullptr;
    if (limit_both(folder, limits)) return group;
    why_not = "cannot limit the group " + folder;
    return nullptr;
  }
  const auto memory = own_folder("memory"), processes = own_folder("pids");
  if (!memory || !processes) {
    why_not = unified ? "no group with the controllers memory and pids is delegated to this process"
                      : "no control groups are mounted";
    return nullptr;
  }
  const std::string of_memory = add(*memory);
  if (of_memory.empty()) return nullptr;
  const std::string of_processes = add(*processes);
  if (of_processes.empty()) return nullptr;
  const std::string bytes = std::to_string(limits.memory_bytes);
  const bool limited =
      (limits.memory_bytes == 0 || write_to(of_memory + "/memory.limit_in_bytes", bytes)) &&
      (limits.processes == 0 ||
       write_to(of_processes + "/pids.max", std::to_string(limits.processes)));
  if (limits.memory_bytes > 0) write_to(of_memory + "/memory.memsw.limit_in_bytes", bytes);
  if (limited) return group;
  why_not = "cannot limit the groups below " + *memory + " and " + *processes;
  return nullptr;
}

control_group::~control_group() { end(); }

void control_group::join() const {
  for (const auto& file : members_) {
    const int descriptor = open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) continue;
    [[maybe_unused]] const auto n = write(descriptor, "0", 1);
    close(descriptor);
  }
}

void control_group::end() {
  if (ended_) return;
  ended_ = true;
  for (const auto& folder : folders_) {
    for (const char* file : {"memory.peak", "memory.max_usage_in_bytes"}) {
      peak_bytes_ = std::max(peak_bytes_, number_in(read_all(folder + "/" + file), ""));
    }
    for (const char* file : {"memory.events", "memory.oom_control"}) {
      out_of_memory_ |= number_in(read_all(folder + "/" + file), "oom_kill") > 0;
    }
    // Killed processes leave the group only when their memory is freed.
    for (int round = 0; rmdir(folder.c_str()) != 0 && errno == EBUSY && round < 1000; ++round) {
      kill_members(folder);
      usleep(2000);
    }
  }
}

}  // namespace stepwise
