// What the runtime adds while a program is checked (STEPWISE_CHECK=1): it tells the device where
// each call came from and to which stream it belongs, watches for errors that the program never
// reads and for memory freed wrongly, and brings all findings out.
//
// idea    `state::checks` is null in a plain run, so that all of this costs one test there.
//         Findings are taken from the device after each call and written at once: a program that
//         crashes, or is killed, has written what was found before.
// output  STEPWISE_FINDINGS names a file: findings are appended to it as lines of JSON
//         (common/report/located_finding.hpp). Else they are shown on stderr when the program
//         ends, by a signal too.
// watch   A launch by <<<>>> returns nothing, and the program may ignore what other calls return
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
  // Null, unless the environment asks for checks.
  static std::unique_ptr<call_checks> from_environment();
  // An empty `file`: stderr.
  explicit call_checks(std::string file) : file_(std::move(file)) {}

  // An API call by the program, with the place that it came from.
  struct watched_call {
    program_call from;
    std::uint64_t origin = 0;
    bool by_launch_syntax = false;  // it is the call that <<<>>> makes
  };
  // `function` is the name that std::source_location gives.
  watched_call begin_call(const char* function);
  std::uint64_t origin() const { return origin_; }
  // The call is over: takes the device's findings.
  void end_call(const watched_call& call, device* of, const status& outcome);
  // A driver API function returns an error. It may have called the runtime before.
  void end_driver_call(int code, const char* error_name);

  // Memory was to be freed that the call cannot free, and the device was not asked. `bytes` and
  // `allocated_by` are of the allocation, 0 if unknown.
  void refused_free(std::string message, std::string advice, std::uint64_t bytes = 0,
                    std::uint64_t allocated_by = 0);

  // A copy was made whose kind describes it wrongly.
  void wrong_copy_kind(std::string message, std::string advice);

  // This thread asked for its last error.
  void error_seen();
  // A kernel failed.
  void fault_noted(int code, const std::string& message);

  // The same of the host's own code at `at`, found by a copy of the process that dies after it: see
  // host_access.hpp. True if everything found so far was shown.
  bool add_in_copy(finding what, const host_place& at);

  // The device goes, or the program ends. `in_order`: memory that is left is a leak.
  void finish(device* of, bool in_order);
  // Once, at the very end: what the program never read.
  void program_ends();

  const std::vector<located_finding>& found() const { return found_; }

 private:
  // What a call returned, other than success.
  struct failure {
    int code = 0;
    const char* name = "";
    std::string why;         // may be empty
    bool by_driver = false;  // a driver API call; the driver API keeps no last error
  };
  // An error that the program may still ask for.
  struct unchecked {
    std::uint64_t thread = 0;  // the thread whose last error it is; 0: it cannot be asked for
    finding what;
    std::vector<std::uintptr_t> passed;  // the frames that a result passed until it was ignored
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
  // By origin: where a result goes, and whether the program's own code ignores it.
  std::map<std::uint64_t, followed_result> results_;
  std::map<std::uint64_t, bool> ignored_by_program_;
  std::size_t last_words_made_ = 0;
  std::vector<located_finding> found_;
  std::vector<std::uint64_t> written_;  // of the counts, to the file
  bool armed_ = false;
};

// How findings are shown on stderr.
finding_style style_of_stderr();

// A launch by <<<>>> is two calls. The first comes from the program's line, the second from a stub
// that stands at the kernel's definition: the origin of the first is handed to the second.
std::uint64_t origin_of_launch();
void next_call_is_launch(std::uint64_t origin);

// A number for this thread, from 1.
std::uint64_t thread_number();

}  // namespace stepwise::runtime
