// Makes the calls of a whole program, each in a process of its own.
//
// idea    A program's main runs once per process. Its global objects are constructed before main
//         and destroyed after it, and nothing may remain from another call. Each call therefore has
//         its own session, which ends with the call, so that leaks are found.
// watch   On a GPU, a process takes longer to start than a call takes. There, one session makes all
//         calls (start_session), and main runs several times in one process.
// Tested by tests/session_test.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "grader/judge/session.hpp"

namespace stepwise {

class program_sessions : public call_session {
 public:
  using starter = std::function<std::unique_ptr<call_session>()>;

  // `start` starts a session that writes its findings to the file `findings`, which is empty if
  // there are no checks.
  program_sessions(starter start, std::filesystem::path findings);

  call_outcome call(std::size_t number) override;
  // The findings are those of the first call that has any. Most errors occur in every call.
  call_outcome finish(double seconds) override;
  std::string printed() const override;

 private:
  call_outcome end_session(double seconds);

  starter start_;
  std::filesystem::path findings_;
  std::unique_ptr<call_session> current_;  // has made its call, and has not ended
  std::string kept_, printed_;             // findings and output of earlier sessions
};

}  // namespace stepwise
