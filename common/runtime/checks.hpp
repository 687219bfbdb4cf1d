// The runtime's part in checking a program (STEPWISE_CHECK=1). It passes the origin and the stream
// of each call to the device, watches for errors that the program never reads and for memory freed
// wrongly, and writes all findings.
//
// idea    `state::checks` is null in a plain run, where all of this costs only one test of a
//         pointer. Findings are taken from the device after each call and written at once, so they
//         are not lost if the program crashes or is killed.
// output  If STEPWISE_FINDINGS names a file, findings are appended to it as lines of JSON
//         (common/report/located_finding.hpp). Otherwise, they are printed on stderr when the
//         program ends, even if a signal ends it.
// watch   A launch by <<<>>> returns nothing, and the program may ignore the result of other calls
//         (host/result_use.hpp). Such an error counts as seen when the thread calls
//         cudaGetLastError or cudaPeekAtLastError. A kernel's fault counts as seen once any call
//         has returned it to code that looks at the result.
// tests   tests/checks_test.cpp, tests/checks_test.py
#pragma once

#include <unistd.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/device/device.hpp"
#include "common/report/finding_text.hpp"
#include "common/report/located_finding.hpp"
#include "common/runtime/host/call_stacks.hpp"
#include "common/runtime/host/result_use.hpp"

namespace stepwise::runtime {

struct state;

class call_checks {
 public:
  // Null, unless the environment requests checks.
  static std::unique_ptr<call_checks> from_environment();
  // Writes to stderr if `file` is empty.
  explicit call_checks(std::string file) : file_(std::move(file)) {}

  // An API call by the program, with its call stack.
  struct watched_call {
    program_call from;
    std::uint64_t origin = 0;
    bool by_launch_syntax = false;  // the call that <<<>>> makes
  };
  // `function` is the name from std::source_location.
  watched_call begin_call(const char* function);
  std::uint64_t origin() const { return origin_; }
  // Ends a call, and takes the device's findings.
  void end_call(const watched_call& call, device* of, const status& outcome);
  // Called when a driver API function returns an error, possibly after it called the runtime.
  void end_driver_call(int code, const char* error_name);

  // Called when a function cannot free the given memory and has not tried to. `bytes` and
  // `allocated_by` describe the allocation; 0 if unknown.
  void refused_free(std::string message, std::string advice, std::uint64_t bytes = 0,
                    std::uint64_t allocated_by = 0);

  // Called when the kind of a copy describes its memory wrongly.
  void wrong_copy_kind(std::string message, std::string advice);

  // Called when this thread reads its last error.
  void error_seen();
  // Called when a kernel failed.
  void fault_noted(int code, const std::string& message);

  // Adds a finding about host code at `at`. Called in a copy of the process that then exits; see
  // host_access.hpp. Returns true if this call printed all findings so far.
  bool add_in_copy(finding what, const host_place& at);

  // Called before the device is released or the program ends. `in_order`: report leaks.
  void finish(device* of, bool in_order);
  // Called once, at the very end. Adds the errors that the program never read.
  void program_ends();

  const std::vector<located_finding>& found() const { return found_; }

 private:
  // A call's result other than success.
  struct failure {
    int code = 0;
    const char* name = "";
    std::string why;         // may be empty
    bool by_driver = false;  // a driver API call; the driver API keeps no last error
  };
  // An error that the program has not read yet.
  struct unchecked {
    std::uint64_t thread = 0;  // whose last error it is; 0 if the program cannot read it
    finding what;
    std::vector<std::uintptr_t> passed;  // frames that returned the result until it was ignored
  };

  watched_call watch();
  void launch_failed(const watched_call& call, const failure& how);
  void call_failed(const watched_call& call, const failure& how);
  const followed_result& result_of(const watched_call& call);
  static located_finding located(finding what, const host_place& at = {});
  void keep(unchecked error);
  bool is_programs(const unchecked& error);
  // Prepares the text about unchecked errors that a crash would write.
  void prepare_last_words();
  void take(device* of, bool at_exit);
  void add(finding what, const host_place& at = {});
  std::string_view function_of(std::uint64_t origin) const;
  void append_to_file(std::size_t number);
  static std::string report(const std::vector<located_finding>& all);

  std::string file_;
  int process_ = getpid();
  std::uint64_t origin_ = 0;
  std::unordered_map<std::uint64_t, const char*> functions_;  // called functions, by origin
  std::set<std::uint64_t> refused_frees_;  // origins of refused frees already reported
  std::vector<unchecked> unchecked_;
  std::unique_ptr<finding> unchecked_fault_;
  // By origin: the use of a result, and whether the program's own code ignores it.
  std::map<std::uint64_t, followed_result> results_;
  std::map<std::uint64_t, bool> ignored_by_program_;
  std::size_t last_words_made_ = 0;
  std::vector<located_finding> found_;
  std::vector<std::uint64_t> written_;  // occurrences already in the file
  bool armed_ = false;
};

// The style of findings on stderr.
finding_style style_of_stderr();

// A launch by <<<>>> makes two calls. The first comes from the program's source line, the second
// from a stub at the kernel's definition, so the second call uses the origin of the first.
std::uint64_t origin_of_launch();
void next_call_is_launch(std::uint64_t origin);

// A number for this thread, from 1.
std::uint64_t thread_number();

}  // namespace stepwise::runtime
