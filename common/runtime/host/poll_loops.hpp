// Whether the host's code waits for the value that it has just loaded: a loop that polls.
//
// idea    The code after a load is executed step by step. Where a jump leaves a loop that would
//         have come back to the load, the loop waited for the value. Work of the device is done at
//         once here, so a loop that polls ends at its first look.
// watch   Compilers copy the first look of a loop to a place before it. Then the code that was not
//         executed holds the loop, with a second load that has the same bytes.
//         A loop that searches, and finds what it wants at its first look, counts as a poll.
// tests   common/emulator/check/tests/programs (host_polls*, race_host_*)
#pragma once

#include <cstdint>

namespace stepwise::runtime {

struct followed_load {
  std::uintptr_t instruction = 0;  // or the one after the call of a function that loads
  bool is_call = false, returns = false;
  std::uintptr_t jumps_to = 0, falls_to = 0;  // of the jump that is executed now; 0: none
  int steps = 0, jumps = 0;
};

enum class load_use : std::uint8_t { not_known_yet, poll, plain };

// `at` is executed next. Called in a signal's handler.
load_use follow_load(followed_load& load, std::uintptr_t at);

}  // namespace stepwise::runtime
