// Which part of judged calls' host time counts: what the submission causes, not what the machine
// does meanwhile (DESIGN.md, "Host time counts where the submission causes it").
//
// Tested by tests/speed_test.cpp.
#pragma once

#include <vector>

namespace stepwise {

// The host time in ms that a call may take without any of it counting: the 99th percentile of
// empty calls, or the largest median of a rival's calls, whichever is longer. Rivals are the
// course's own programs; where other work keeps the machine's cores busy, their calls wait as much
// as a submission's, and an empty call, which is short, seldom does.
double allowed_host_ms(const std::vector<double>& empty_calls_ms,
                       const std::vector<std::vector<double>>& rivals_ms);

// The time of each round in ms: the device's, and the host's beyond `allowed_ms`, but no more of
// it than in the median round. A delay of the machine's is in few rounds, and what a program
// computes on the host in most. One host time for each device time.
std::vector<double> times_that_count(const std::vector<double>& device_ms,
                                     const std::vector<double>& host_ms, double allowed_ms);

}  // namespace stepwise
