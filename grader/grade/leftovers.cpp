// Lists children, folders, shared memory and mounts, before and after.
#include "grader/grade/leftovers.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise {
namespace {

constexpr const char* mark = "stepwise-attack";

// Children of this process, except for zombies.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  for (const process_entry& process : all_processes())
    if (process.parent == getpid() && process.state != 'Z') found.push_back(process.id);
  return found;
}

void reap() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

// Mounts below our own folders, or with the mark. Elsewhere, other programs may mount, too.
std::set<std::string> mounts(const std::vector<fs::path>& own) {
  std::set<std::string> all;
  std::ifstream file("/proc/self/mounts");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string source, at;
    words >> source >> at;
    bool is_ours = line.find(mark) != std::string::npos;
    for (const auto& folder : own) is_ours |= at.starts_with(folder.string());
    if (is_ours) all.insert(line);
  }
  return all;
}

std::set<std::string> files_in(const std::vector<fs::path>& own) {
  std::set<std::string> all;
  std::error_code error;
  for (const auto& folder : own) {
    for (const auto& entry : fs::directory_iterator(folder, error)) all.insert(entry.path());
  }
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm", "."}) {
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().filename().string().find(mark) != std::string::npos)
        all.insert(entry.path());
    }
  }
  // System V's shared memory, by key.
  std::ifstream segments("/proc/sysvipc/shm");
  for (std::string line; std::getline(segments, line);) {
    std::istringstream words(line);
    std::string key, id;
    if (words >> key >> id && key != "key") all.insert("shared memory " + key + ", number " + id);
  }
  return all;
}

}  // namespace

leftovers::leftovers(std::vector<fs::path> own)
    : own_(std::move(own)), files_(files_in(own_)), mounts_(mounts(own_)) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::vector<std::string> leftovers::find() {
  std::vector<std::string> left;
  auto processes = children();
  for (int i = 0; i < 100 && !processes.empty(); ++i) {
    usleep(20'000);
    reap();
    processes = children();
  }
  for (const pid_t id : processes) {
    std::ifstream file("/proc/" + std::to_string(id) + "/comm");
    std::string name;
    std::getline(file, name);
    left.push_back("process " + std::to_string(id) + " (" + name + ")");
    kill(id, SIGKILL);
  }
  for (const auto& file : files_in(own_)) {
    if (!files_.insert(file).second) continue;
    left.push_back(file);
    std::error_code ignored;
    if (file.find(mark) != std::string::npos) fs::remove(file, ignored);
  }
  for (const auto& mount : mounts(own_)) {
    if (mounts_.insert(mount).second) left.push_back("mount " + mount.substr(0, 100));
  }
  return left;
}

}  // namespace stepwise
