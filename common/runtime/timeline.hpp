// Records the work that the program requests, for a timeline (STEPWISE_TIMELINE), and computes
// its modelled times at once if event times follow the model (event_times.hpp).
//
// idea    `state::recorder` is null in a plain run, where this costs only one test of a pointer.
// output  STEPWISE_TIMELINE names a file. When the process ends, the recorded requests are appended
//         to it as one line of JSON (common/report/timeline.hpp).
// watch   A program that is killed or that ends by _exit writes nothing. Work that failed is not
//         recorded.
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
  // Null unless the environment requests a timeline.
  static std::unique_ptr<call_recorder> from_environment();

  // Called after a device was created, perhaps again after a reset.
  void begin(const gpu& model);
  // Begins a call by the program. `function` is the name from std::source_location.
  void begin_call(const char* function) {
    ++call_;
    function_ = function;
  }
  // Adds a request of the current call, with the call's number and name.
  void add(asked what);
  // Ends the call. A call without requests is recorded as a call.
  void end_call();

  const asked_list& list() const { return list_; }

  // Called before and after a kernel launch in a stream. These pass the modelled start time to the
  // device, and store the modelled duration in `kernel`.
  void before_launch(device& on, const stream_use& in);
  void after_launch(const device& on, asked& kernel);
  // The modelled time between two recorded events. Returns nothing if event times do not follow the
  // model.
  std::optional<float> elapsed_ms(std::uint64_t first, std::uint64_t second) const;
  std::uint64_t untimed() const { return untimed_; }

 private:
  bool keeps_list_ = false;
  std::optional<stream_clock> clock_;
  std::uint64_t untimed_ = 0;  // launches without a modelled time
  asked_list list_;
  std::uint64_t call_ = 0;
  const char* function_ = "";
};

}  // namespace stepwise::runtime
