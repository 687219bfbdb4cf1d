// Writes down what the program asks for, to be laid out in time (STEPWISE_TIMELINE), and
// lays it out at once where events follow the model (event_times.hpp).
//
// idea    `state::recorder` is null in a plain run, so that this costs one test of a pointer there.
// output  STEPWISE_TIMELINE names a file: what was asked is appended to it as one line of JSON
//         (common/report/timeline.hpp) when the process ends.
// watch   A program that is killed, or that ends by _exit, leaves nothing. Work that failed was not
//         asked for.
// tests   grader/cli/tests/timeline_cli_test.cpp
#pragma once

#include <memory>
#include <optional>

#include "common/device/device.hpp"
#include "common/report/timeline.hpp"
#include "common/timeline/stream_clock.hpp"

namespace stepwise::runtime {

class call_recorder {
 public:
  // Null, unless the environment asks for it.
  static std::unique_ptr<call_recorder> from_environment();

  // There is a device, maybe again.
  void begin(const gpu& model);
  // A call of the program begins; `function` as std::source_location has it.
  void begin_call(const char* function) {
    ++call_;
    function_ = function;
  }
  // The call asked for this; its number and name are added here.
  void add(asked what);
  // The call is over: kept as such if it asked for nothing.
  void end_call();

  const asked_list& list() const { return list_; }

  // A kernel is about to be launched in a stream, or was: the device learns when it begins, and
  // asked how long it takes.
  void before_launch(device& on, const stream_use& in);
  void after_launch(const device& on, asked& kernel);
  // Between two events that were recorded, by the model; nothing where events do not follow it.
  std::optional<float> elapsed_ms(std::uint64_t first, std::uint64_t second) const;
  std::uint64_t untimed() const { return untimed_; }

 private:
  bool keeps_list_ = false;
  std::optional<stream_clock> clock_;
  std::uint64_t untimed_ = 0;  // launches
  asked_list list_;
  std::uint64_t call_ = 0;
  const char* function_ = "";
};

}  // namespace stepwise::runtime
