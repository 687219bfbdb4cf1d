// What the times between events are, said once when the program ends, if it asked for one.
//
// input   STEPWISE_EVENT_TIMES, which `lab exec` sets: "modelled", where events follow the model
//         (timeline.hpp), or "emulation", where they are this machine's; ",quiet" appended, or no
//         such variable: nothing is said.
// watch   A program that is killed, or that ends by _exit, prints nothing.
// tests   grader/cli/tests/event_times_test.cpp
#pragma once

#include <cstdint>
#include <string>

namespace stepwise::runtime {

// Whether events shall follow the model.
bool wants_modelled_events();
// The program asked for the time between two events of the GPU of this name. `untimed`: launches so
// far that the model has no time for.
void note_elapsed_time(const std::string& gpu, std::uint64_t untimed);

}  // namespace stepwise::runtime
