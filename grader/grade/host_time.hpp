// Decides which host time of judged calls counts: the time that the submission causes, not delays
// of the machine (DESIGN.md, "Host time counts where the submission causes it").
//
// Tested by tests/speed_test.cpp.
#pragma once

#include <vector>

namespace stepwise {

// The host time in ms per call that does not count: the 99th percentile of empty calls, or the
// largest median of a rival's calls, whichever is longer. Rivals are the course's own programs. On
// a busy machine, their calls wait as long as a submission's. An empty call is short and seldom
// waits.
double allowed_host_ms(const std::vector<double>& empty_calls_ms,
                       const std::vector<std::vector<double>>& rivals_ms);

// The time of each round in ms: the device's, plus the host's beyond `allowed_ms`, but at most as
// much as in the median round. Delays of the machine occur in few rounds, computations on the host
// in most. Both lists have one time per round.
std::vector<double> times_that_count(const std::vector<double>& device_ms,
                                     const std::vector<double>& host_ms, double allowed_ms);

}  // namespace stepwise
