// Ends a command that cannot continue, with one sentence for a person and an exit code for a
// script.
#pragma once

#include <stdexcept>
#include <string>

namespace stepwise {

// Exit codes: 0 fine, 1 the student's fault, 2 usage, 3 environment, 4 an internal error.
enum class exit_code : int {
  fine = 0,
  student = 1,
  usage = 2,
  environment = 3,
  ours = 4,
  interrupted = 130,
};

// Thrown to end a command. `message` explains what was expected, what was found and what to do. It
// may have several lines.
class failure : public std::runtime_error {
 public:
  failure(exit_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  exit_code code() const { return code_; }

 private:
  exit_code code_;
};

// Thrown after Ctrl-C, SIGTERM or SIGHUP. When main catches it, children are dead and temporary
// files are removed.
class interrupted : public failure {
 public:
  interrupted() : failure(exit_code::interrupted, "interrupted; no data was lost") {}
};

}  // namespace stepwise
