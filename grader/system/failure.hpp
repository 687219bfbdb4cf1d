// How a command ends when it cannot continue: one sentence for a person and an exit code for a
// script.
#pragma once

#include <stdexcept>
#include <string>

namespace stepwise {

// conventions: 0 fine, 1 the student's fault, 2 usage, 3 environment, 4 ours.
enum class exit_code : int {
  fine = 0,
  student = 1,
  usage = 2,
  environment = 3,
  ours = 4,
  interrupted = 130,
};

// Thrown where a command must end. `message` says what was expected, what was found and what to do;
// it may have several lines.
class failure : public std::runtime_error {
 public:
  failure(exit_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  exit_code code() const { return code_; }

 private:
  exit_code code_;
};

// Ctrl-C, SIGTERM or SIGHUP arrived; children are dead and temporary files are gone when main
// catches it.
class interrupted : public failure {
 public:
  interrupted() : failure(exit_code::interrupted, "interrupted; nothing was lost") {}
};

}  // namespace stepwise
