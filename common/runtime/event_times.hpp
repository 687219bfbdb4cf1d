// A note about the meaning of event times, printed when a program that queried one ends.
//
// input   STEPWISE_EVENT_TIMES, which `lab exec` sets. "modelled" means that events follow the
//         model (timeline.hpp), "emulation" that event times are those of this machine. There is no
//         note if ",quiet" is appended or the variable is not set.
// watch   A program that is killed, or that ends by _exit, prints nothing.
// tests   grader/cli/tests/event_times_test.cpp
#pragma once

#include <cstdint>
#include <string>

namespace stepwise::runtime {

// Whether event times follow the model.
bool wants_modelled_events();
// Called when the program queries the time between two events. `gpu`: the GPU's name. `untimed`:
// the number of launches so far without a modelled time.
void note_elapsed_time(const std::string& gpu, std::uint64_t untimed);

}  // namespace stepwise::runtime
