// A child process: its own process group, bounded output, limits, and no way to outlive us.
//
// idea    fork and exec, pipes and poll. Output is read all the time and only its head and tail are
//         kept, so a chatty child neither blocks nor fills memory. Whatever ends the wait - the
//         deadline, a flood, Ctrl-C, the destructor - kills the whole group and reaps it.
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
  // What was kept, with a line that says how many bytes were left out, if any.
  std::string text() const;

 private:
  std::size_t half_;
  std::string head_, tail_;
  std::uint64_t total_ = 0;
};

struct child_options {
  std::vector<std::string> command;       // [0] is looked up on PATH if it has no slash
  std::vector<std::string> environment;   // "NAME=value" replaces, "NAME" removes; the rest is ours
  bool own_environment = false;           // `environment` is all there is; only "NAME=value"
  std::string directory;                  // empty: ours
  std::vector<int> pass;                  // our descriptors; the child has them as 3, 4, ...
  std::uint64_t data_limit_bytes = 0;     // RLIMIT_DATA; 0: none
  std::uint64_t file_limit_bytes = 0;     // RLIMIT_FSIZE; 0: none
  std::uint64_t address_limit_bytes = 0;  // RLIMIT_AS; 0: none
  std::uint64_t cpu_limit_s = 0;          // RLIMIT_CPU of each process; 0: none
  std::uint64_t process_limit = 0;        // RLIMIT_NPROC: the user's processes; 0: none
  std::uint64_t open_file_limit = 0;      // RLIMIT_NOFILE; 0: ours
  // Its processes and threads, counted about ten times a second while waiting; more end it. 0:
  // none. For where nothing of the kernel's limits them: it needs a process namespace, in which
  // they stay below the child whatever they do.
  int counted_tasks = 0;
  // Memory of its processes together, looked at as often; more ends it. 0: none. For where there is
  // no control group: between two looks it can take more.
  std::uint64_t counted_bytes = 0;
  // The program reports another one's end as a shell does: 128 + the signal's number.
  bool ends_as_shell = false;
  std::string filter;                       // of system calls (system_calls.hpp), for the program
  std::shared_ptr<control_group> group;     // that it joins; null: ours
  std::vector<std::shared_ptr<void>> keep;  // what must outlive the start
  std::size_t keep_bytes = 64 << 10;        // of each stream
  std::uint64_t flood_bytes = 64 << 20;     // of both streams together: more ends the child
  std::function<void()> tick;               // called about ten times a second while waiting
};

struct child_end {
  enum class cause { exited, signalled, deadline, flooded } how = cause::exited;
  int exit_code = 0;  // exited
  int signal = 0;     // signalled
  double wall_s = 0, cpu_s = 0;
  std::uint64_t peak_bytes = 0;
  bool out_of_memory = false;  // its control group's limit, or `counted_bytes`, ended one of it
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
  // Waits until `descriptor` (if not -1) can be read, the child has ended, `seconds` have passed or
  // the child has written too much. Readable wins over ended. Throws interrupted. What is there at
  // once is told at once: `tick` and counted limits have their turn only where it has to wait.
  event wait(double seconds, int descriptor = -1);

  // Counts its processes, threads and memory, at most ten times a second, and ends it if they are
  // too many. That reads all of /proc, which takes milliseconds: not while something is timed.
  void end_if_too_much();

  // Kills the group if it still runs, reaps, and says how it ended; `cause` is what to report if
  // the child had not ended by itself.
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

// Runs a program to its end, or for `seconds` at most.
child_result run_child(child_options options, double seconds);

// Ours with changes: "NAME=value" replaces, "NAME" removes.
std::vector<std::string> merged_environment(const std::vector<std::string>& changes);
// Such changes that leave nothing of ours, but what is added.
std::vector<std::string> empty_environment(std::vector<std::string> added);

// The program's file as a shell finds it; empty if PATH has none of that name.
std::string on_path(const std::string& program);

// For exec: they point into `strings`, and a nullptr ends them.
std::vector<char*> pointers(std::vector<std::string>& strings);

// What /proc/PID/stat says of every process; nothing where there is no /proc. Read one after the
// other, so entries may contradict each other.
struct process_entry {
  pid_t id = 0, parent = 0;
  char state = '?';  // 'Z': it has ended
  int threads = 0;
  std::uint64_t bytes = 0;  // in memory
};
std::vector<process_entry> all_processes();

// What a process and those below it use; nothing where there is no /proc.
struct family_use {
  int tasks_below = 0;      // threads; not its own
  std::uint64_t bytes = 0;  // in memory, of all; what two of them share counts twice
};
family_use use_of_family(pid_t ancestor);

// "segmentation fault (SIGSEGV)"
std::string signal_text(int signal);

}  // namespace stepwise
