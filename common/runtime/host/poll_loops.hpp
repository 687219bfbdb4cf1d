// Whether host code waits for the value that it has just loaded, in a polling loop.
//
// idea    The code after a load is single-stepped. If a jump leaves a loop that would have returned
//         to the load, the loop waited for the value. Device work completes at once here, so a
//         polling loop ends in its first iteration.
// watch   Compilers may copy the first load of a loop to a place before it. In that case, the path
//         that was not taken contains the loop, with a second load that has the same bytes.
//         A search loop that succeeds in its first iteration counts as a poll.
// tests   common/emulator/check/tests/programs (host_polls*, race_host_*)
#pragma once

#include <cstdint>

namespace stepwise::runtime {

struct followed_load {
  std::uintptr_t instruction = 0;  // or the return address, if a called function loads
  bool is_call = false, returns = false;
  std::uintptr_t jumps_to = 0, falls_to = 0;  // targets of the current jump; 0: none
  int steps = 0, jumps = 0;
};

enum class load_use : std::uint8_t { not_known_yet, poll, plain };

// `at` is the next instruction. Called in a signal handler.
load_use follow_load(followed_load& load, std::uintptr_t at);

}  // namespace stepwise::runtime
