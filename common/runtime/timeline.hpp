// Writes down what the program asks for, for whoever lays it out in time (STEPWISE_TIMELINE).
//
// idea    `state::recorder` is null in a plain run, so that this costs one test of a pointer there.
// output  STEPWISE_TIMELINE names a file: what was asked is appended to it as one line of JSON
//         (common/report/timeline.hpp) when the process ends.
// watch   A program that is killed, or that ends by _exit, leaves nothing. Work that failed was not
//         asked for.
// tests   grader/cli/tests/timeline_cli_test.cpp
#pragma once

#include <memory>

#include "common/report/timeline.hpp"

namespace stepwise::runtime {

class call_recorder {
 public:
  // Null, unless the environment asks for it.
  static std::unique_ptr<call_recorder> from_environment();

  // A call of the program begins; `function` as std::source_location tells it.
  void begin_call(const char* function) {
    ++call_;
    function_ = function;
  }
  // The call asked for this; its number and name are added here.
  void add(asked what);
  // The call is over: kept as such if it asked for nothing.
  void end_call();

  const asked_list& list() const { return list_; }

 private:
  asked_list list_;
  std::uint64_t call_ = 0;
  const char* function_ = "";
};

}  // namespace stepwise::runtime
