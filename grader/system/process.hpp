// A child process with its own process group, bounded output and limits. It cannot outlive us.
//
// idea    fork and exec, pipes and poll. Output is read continuously, and only its head and tail
//         are kept, so a chatty child neither blocks nor fills memory. Every end of the wait (the
//         deadline, a flood, Ctrl-C, the destructor) kills and reaps the whole group.
// Tested by tests/process_test.cpp.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "grader/system/control_group.hpp"

namespace stepwise {

// The head and the tail of a stream, each at most half of `capacity` bytes.
class bounded_text {
 public:
  explicit bounded_text(std::size_t capacity) : half_(capacity / 2) {}
  void append(const char* data, std::size_t size);
  std::uint64_t total() const { return total_; }
  // The kept text, with a line about the number of omitted bytes, if any.
  std::string text() const;

 private:
  std::size_t half_;
  std::string head_, tail_;
  std::uint64_t total_ = 0;
};

struct child_options {
  std::vector<std::string> command;      // [0] is looked up on PATH if it has no slash
  std::vector<std::string> environment;  // "NAME=value" replaces, "NAME" removes; inherits the rest
  bool own_environment = false;          // `environment` is complete; only "NAME=value"
  std::string directory;                 // empty: ours
  std::vector<int> pass;                 // our descriptors; the child gets them as 3, 4, ...
  std::uint64_t data_limit_bytes = 0;    // RLIMIT_DATA; 0: none
  std::uint64_t file_limit_bytes = 0;    // RLIMIT_FSIZE; 0: none
  std::uint64_t address_limit_bytes = 0;  // RLIMIT_AS; 0: none
  std::uint64_t cpu_limit_s = 0;          // RLIMIT_CPU of each process; 0: none
  std::uint64_t process_limit = 0;        // RLIMIT_NPROC: the user's processes; 0: none
  std::uint64_t open_file_limit = 0;      // RLIMIT_NOFILE; 0: ours
  // Limit on its processes and threads, counted about ten times a second while waiting. 0: none.
  // For machines where no kernel limit applies. This limit needs a process namespace, in which all
  // descendants stay below the child.
  int counted_tasks = 0;
  // Limit on its processes' total memory, checked equally often. 0: none. For machines without a
  // control group. Between two checks, the child may use more.
  std::uint64_t counted_bytes = 0;
  // The program reports another program's end as a shell does: 128 + the signal's number.
  bool ends_as_shell = false;
  std::string filter;                       // of system calls (system_calls.hpp)
  std::shared_ptr<control_group> group;     // the child joins it; null: our group
  std::vector<std::shared_ptr<void>> keep;  // must outlive the start
  std::size_t keep_bytes = 64 << 10;        // per stream
  std::uint64_t flood_bytes = 64 << 20;     // of both streams together; more ends the child
  std::function<void()> tick;               // called about ten times a second while waiting
};

struct child_end {
  enum class cause { exited, signalled, deadline, flooded } how = cause::exited;
  int exit_code = 0;  // exited
  int signal = 0;     // signalled
  double wall_s = 0, cpu_s = 0;
  std::uint64_t peak_bytes = 0;
  bool out_of_memory = false;  // its group's limit or `counted_bytes` ended a process
  bool too_many_tasks = false;

  bool ok() const { return how == cause::exited && exit_code == 0; }
};

class child {
 public:
  // Throws failure(environment) if the program cannot be started.
  explicit child(child_options options);
  ~child();
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  enum class event { readable, ended, deadline, flooded };
  // Waits until `descriptor` (if not -1) is readable, the child has ended, `seconds` have passed or
  // the child has written too much. "Readable" has priority over "ended". Throws interrupted.
  // `tick` and counted limits run only if this function has to wait.
  event wait(double seconds, int descriptor = -1);

  // Counts the child's processes, threads and memory, at most ten times a second, and kills the
  // child if it is over a limit. Reads all of /proc, which takes milliseconds, so never call it
  // during a measurement.
  void kill_if_over_limit();

  // Kills the group if it still runs, reaps it, and returns how it ended. `cause` is reported if
  // the child had not ended before.
  const child_end& end(child_end::cause cause);

  const bounded_text& output() const { return out_; }
  const bounded_text& errors() const { return err_; }
  pid_t id() const { return id_; }
  bool is_over() const { return reaped_; }  // end() was called

 private:
  void drain();
  bool has_ended() const;

  child_options options_;
  pid_t id_ = -1;
  int out_fd_ = -1, err_fd_ = -1, pid_fd_ = -1;
  bool reaped_ = false;
  child_end end_;
  bounded_text out_, err_;
  std::chrono::steady_clock::time_point started_, counted_;
};

struct child_result {
  child_end end;
  std::string out, err;
};

// Runs a program to its end, or for at most `seconds`.
child_result run_child(child_options options, double seconds);

// Our environment with changes: "NAME=value" replaces, "NAME" removes.
std::vector<std::string> merged_environment(const std::vector<std::string>& changes);
// Changes that leave only `added` in the environment.
std::vector<std::string> empty_environment(std::vector<std::string> added);

// The program's file as a shell finds it. Empty if PATH has no program of this name.
std::string on_path(const std::string& program);

// Pointers for exec into `strings`, with a final nullptr.
std::vector<char*> pointers(std::vector<std::string>& strings);

// /proc/PID/stat of every process. Empty without /proc. The entries are read one after the other,
// so they may contradict each other.
struct process_entry {
  pid_t id = 0, parent = 0;
  char state = '?';  // 'Z': a zombie
  int threads = 0;
  std::uint64_t bytes = 0;  // in memory
};
std::vector<process_entry> all_processes();

// Resources of a process and its descendants. Zero without /proc.
struct family_use {
  int tasks_below = 0;      // threads; not its own
  std::uint64_t bytes = 0;  // in memory, of all; shared pages count per process
};
family_use use_of_family(pid_t ancestor);

// "segmentation fault (SIGSEGV)"
std::string signal_text(int signal);

}  // namespace stepwise
