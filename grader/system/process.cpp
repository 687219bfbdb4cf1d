// Prepares the child between fork and exec, drains its pipes, waits with a deadline, and reaps it.
#include "grader/system/process.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "grader/system/failure.hpp"
#include "grader/system/signals.hpp"
#include "grader/system/stopwatch.hpp"
#include "grader/system/system_calls.hpp"

extern char** environ;

namespace stepwise {
namespace {

using clock = std::chrono::steady_clock;

struct pipe_pair {
  int read = -1, write = -1;
};

pipe_pair make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw failure(exit_code::environment,
                  std::string("cannot create a pipe: ") + strerror(errno) +
                      "; if too many files are open, raise the limit with ulimit -n");
  }
  return {ends[0], ends[1]};
}

void limit(int resource, std::uint64_t bytes) {
  if (bytes == 0) return;
  const struct rlimit value { bytes, bytes };
  setrlimit(static_cast<__rlimit_resource>(resource), &value);
}

// Runs between fork and exec, and makes only async-signal-safe calls. Reports errno through
// `report`.
[[noreturn]] void become(const child_options& options, char* const* command,
                         char* const* environment, int* pass, int out, int err, int report,
                         pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent died before prctl
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) {
    signal(signal_number, SIG_DFL);
  }
  const struct rlimit no_core { 0, 0 };
  setrlimit(RLIMIT_CORE, &no_core);
  limit(RLIMIT_DATA, options.data_limit_bytes);
  limit(RLIMIT_FSIZE, options.file_limit_bytes);
  limit(RLIMIT_AS, options.address_limit_bytes);
  limit(RLIMIT_CPU, options.cpu_limit_s);
  limit(RLIMIT_NPROC, options.process_limit);
  limit(RLIMIT_NOFILE, options.open_file_limit);
  if (options.group) options.group->join();
  // Move our descriptors above the targets first, so that no dup2 overwrites another's source.
  const int base = 3 + static_cast<int>(options.pass.size());
  out = fcntl(out, F_DUPFD_CLOEXEC, base);
  err = fcntl(err, F_DUPFD_CLOEXEC, base);
  report = fcntl(report, F_DUPFD_CLOEXEC, base);
  for (int i = 0; i + 3 < base; ++i) pass[i] = fcntl(pass[i], F_DUPFD_CLOEXEC, base);
  for (int i = 0; i + 3 < base; ++i) dup2(pass[i], 3 + i);
  dup2(open("/dev/null", O_RDONLY), 0);
  dup2(out, 1);
  dup2(err, 2);
  // Closes all our other descriptors, and those that our own parent left open.
  close_range(static_cast<unsigned>(base), ~0u, CLOSE_RANGE_CLOEXEC);
  if (!options.directory.empty() && chdir(options.directory.c_str()) != 0) {
    const int error = errno;
    [[maybe_unused]] const auto n = ::write(report, &error, sizeof error);
    _exit(127);
  }
  if (restrict_system_calls(options.filter)) execvpe(command[0], command, environment);
  const int error = errno;
  [[maybe_unused]] const auto n = ::write(report, &error, sizeof error);
  _exit(127);
}

}  // namespace

std::vector<std::string> merged_environment(const std::vector<std::string>& changes) {
  std::vector<std::string> all;
  const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const bool changed = std::any_of(changes.begin(), changes.end(), [&](const std::string& c) {
      return name_of(c) == name_of(*entry);
    });
    if (!changed) all.emplace_back(*entry);
  }
  for (const auto& change : changes) {
    if (change.find('=') != std::string::npos) all.push_back(change);
  }
  return all;
}

std::vector<std::string> empty_environment(std::vector<std::string> added) {
  std::vector<std::string> changes;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    changes.push_back(text.substr(0, text.find('=')));
  }
  changes.insert(changes.end(), added.begin(), added.end());
  return changes;
}

std::string on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  const std::string list = path != nullptr ? path : "";
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(':', begin), list.size());
    const std::filesystem::path file =
        std::filesystem::path(list.substr(begin, end - begin)) / program;
    std::error_code ignored;
    if (end > begin && access(file.c_str(), X_OK) == 0 &&
        std::filesystem::is_regular_file(file, ignored))
      return file;
    begin = end + 1;
  }
  return {};
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& s : strings) result.push_back(s.data());
  result.push_back(nullptr);
  return result;
}

void bounded_text::append(const char* data, std::size_t size) {
  total_ += size;
  if (head_.size() < half_) {
    const std::size_t take = std::min(size, half_ - head_.size());
    head_.append(data, take);
    data += take;
    size -= take;
  }
  tail_.append(data, size);
  if (tail_.size() > 4 * half_) tail_.erase(0, tail_.size() - half_);
}

std::string bounded_text::text() const {
  const std::string tail = tail_.size() > half_ ? tail_.substr(tail_.size() - half_) : tail_;
  const std::uint64_t left_out = total_ - head_.size() - tail.size();
  if (left_out == 0) return head_ + tail;
  return head_ + "\n[... " + std::to_string(left_out) + " bytes left out ...]\n" + tail;
}

child::child(child_options options)
    : options_(std::move(options)), out_(options_.keep_bytes), err_(options_.keep_bytes) {
  const pipe_pair out = make_pipe(), err = make_pipe(), report = make_pipe();
  std::vector<std::string> command = options_.command;
  std::vector<std::string> environment =
      options_.own_environment ? options_.environment : merged_environment(options_.environment);
  const auto command_pointers = pointers(command);
  const auto environment_pointers = pointers(environment);
  std::vector<int> pass = options_.pass;
  started_ = clock::now();
  const pid_t parent = getpid();
  id_ = fork();
  if (id_ == 0) {
    become(options_, command_pointers.data(), environment_pointers.data(), pass.data(), out.write,
           err.write, report.write, parent);
  }
  const int fork_error = errno;
  for (const int fd : {out.write, err.write, report.write}) close(fd);
  out_fd_ = out.read;
  err_fd_ = err.read;
  int exec_error = id_ < 0 ? fork_error : 0;
  if (id_ > 0) {
    setpgid(id_, id_);  // both sides call it, since either may run first
    register_group(id_);
    while (read(report.read, &exec_error, sizeof exec_error) < 0 && errno == EINTR) {
    }
  }
  close(report.read);
  if (exec_error != 0) {
    if (id_ > 0) {
      waitpid(id_, nullptr, 0);
      forget_group(id_);
    }
    reaped_ = true;
    close(out_fd_);
    close(err_fd_);
    throw failure(exit_code::environment,
                  "cannot start " + options_.command.at(0) + ": " + strerror(exec_error));
  }
  fcntl(out_fd_, F_SETFL, O_NONBLOCK);
  fcntl(err_fd_, F_SETFL, O_NONBLOCK);
  pid_fd_ = static_cast<int>(syscall(SYS_pidfd_open, id_, 0));  // -1 on old kernels, which we poll
  if (pid_fd_ >= 0) fcntl(pid_fd_, F_SETFD, FD_CLOEXEC);
}

child::~child() {
  if (!reaped_) end(child_end::cause::signalled);
  for (const int fd : {out_fd_, err_fd_, pid_fd_}) {
    if (fd >= 0) close(fd);
  }
}

void child::drain() {
  char buffer[65536];
  for (auto [fd, text] : {std::pair{&out_fd_, &out_}, std::pair{&err_fd_, &err_}}) {
    // Limited, so that a child that writes faster than we read cannot keep us here.
    for (int round = 0; *fd >= 0 && round < 64; ++round) {
      const ssize_t n = read(*fd, buffer, sizeof buffer);
      if (n > 0) {
        text->append(buffer, static_cast<std::size_t>(n));
      } else if (n == 0) {
        close(*fd);
        *fd = -1;
      } else if (errno != EINTR) {
        break;
      }
    }
  }
}

bool child::has_ended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == id_;
}

void child::kill_if_over_limit() {
  const bool counts = options_.counted_tasks > 0 || options_.counted_bytes > 0;
  if (!counts || reaped_ || seconds_since(counted_) < 0.1) return;
  counted_ = clock::now();
  const family_use use = use_of_family(id_);
  end_.too_many_tasks |= options_.counted_tasks > 0 && use.tasks_below > options_.counted_tasks;
  end_.out_of_memory |= options_.counted_bytes > 0 && use.bytes > options_.counted_bytes;
  if (!end_.too_many_tasks && !end_.out_of_memory) return;
  kill(id_, SIGKILL);  // also ends its namespace's first process, and so all others
}

child::event child::wait(double seconds, int descriptor) {
  const auto start = clock::now();
  while (true) {
    throw_if_interrupted();
    drain();
    if (out_.total() + err_.total() > options_.flood_bytes) return event::flooded;
    if (descriptor >= 0) {
      pollfd ready{descriptor, POLLIN, 0};
      if (poll(&ready, 1, 0) == 1 && (ready.revents & POLLIN) != 0) return event::readable;
    }
    if (has_ended()) return event::ended;
    const double left = seconds - seconds_since(start);
    if (left <= 0) return event::deadline;
    const double tick_s = pid_fd_ >= 0 ? 0.1 : 0.005;
    // A descriptor whose other end is closed stays ready, which does not end the wait.
    pollfd watched[] = {
        {out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}, {pid_fd_, POLLIN, 0}, {descriptor, POLLIN, 0}};
    const int timeout_ms = static_cast<int>(1000 * std::min(left, tick_s)) + 1;
    poll(watched, 4, timeout_ms);
    if ((watched[3].revents & POLLIN) != 0) continue;
    if ((watched[3].revents & POLLHUP) != 0) usleep(1000);
    kill_if_over_limit();
    if (options_.tick) options_.tick();
  }
}

const child_end& child::end(child_end::cause cause) {
  if (reaped_) return end_;
  const bool by_itself = has_ended();
  kill(-id_, SIGKILL);  // also kills the processes that the child left
  kill(id_, SIGKILL);
  int status = 0;
  struct rusage usage {};
  while (wait4(id_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  forget_group(id_);
  drain();
  end_.wall_s = seconds_since(started_);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  end_.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  end_.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
  if (!by_itself || cause == child_end::cause::flooded) {
    end_.how = cause;
    if (cause == child_end::cause::signalled) end_.signal = SIGKILL;
  } else if (WIFSIGNALED(status)) {
    end_.how = child_end::cause::signalled;
    end_.signal = WTERMSIG(status);
  } else {
    const int code = WEXITSTATUS(status);
    const bool is_signal = options_.ends_as_shell && code > 128 && code < 128 + NSIG;
    end_.how = is_signal ? child_end::cause::signalled : child_end::cause::exited;
    (is_signal ? end_.signal : end_.exit_code) = is_signal ? code - 128 : code;
  }
  if (options_.group) {
    options_.group->end();
    end_.peak_bytes = std::max(end_.peak_bytes, options_.group->peak_bytes());
    end_.out_of_memory = options_.group->ran_out_of_memory();
  }
  return end_;
}

child_result run_child(child_options options, double seconds) {
  child process(std::move(options));
  const auto event = process.wait(seconds);
  const auto cause =
      event == child::event::flooded ? child_end::cause::flooded : child_end::cause::deadline;
  child_result result;
  result.end = process.end(cause);
  result.out = process.output().text();
  result.err = process.errors().text();
  return result;
}

std::vector<process_entry> all_processes() {
  std::vector<process_entry> all;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const pid_t id = std::atoi(entry.path().filename().c_str());
    if (id <= 0) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    // A name may contain any character, even parentheses and spaces.
    const auto name_ends = text.rfind(") ");
    if (name_ends == std::string::npos) continue;
    // proc(5): state, ppid, 15 more, num_threads, 3 more, rss
    std::istringstream rest(text.substr(name_ends + 2));
    process_entry& process = all.emplace_back();
    process.id = id;
    rest >> process.state >> process.parent;
    std::string skipped;
    for (int i = 0; i < 15; ++i) rest >> skipped;
    rest >> process.threads;
    for (int i = 0; i < 3; ++i) rest >> skipped;
    std::uint64_t pages = 0;
    if (rest >> pages) process.bytes = pages * page;
  }
  return all;
}

family_use use_of_family(pid_t ancestor) {
  std::map<pid_t, process_entry> all;
  for (const process_entry& process : all_processes()) all[process.id] = process;
  family_use use;
  for (const auto& [id, process] : all) {
    pid_t at = process.parent;
    // The entries are read one after the other, so the parents may form a cycle.
    for (int steps = 0; at > 1 && at != ancestor && steps < 1000; ++steps) {
      const auto parent = all.find(at);
      at = parent == all.end() ? 0 : parent->second.parent;
    }
    if (at == ancestor) use.tasks_below += process.threads;
    if (at == ancestor || id == ancestor) use.bytes += process.bytes;
  }
  return use;
}

std::string signal_text(int signal) {
  const char* name = sigabbrev_np(signal);
  std::string words = strsignal(signal);
  if (!words.empty()) words[0] = static_cast<char>(std::tolower(words[0]));
  return name == nullptr ? words : words + " (SIG" + name + ")";
}

}  // namespace stepwise
