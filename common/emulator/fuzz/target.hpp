// A fuzz target is one file that defines try_input() for one parser of untrusted bytes.
//
// idea    The same function serves libFuzzer (-Dfuzz=true, .ci/fuzz) and the replay of the corpus
//         in `lab test`. An input ends in a result or in an error that says what is wrong; a target
//         checks what a result promises, too.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace stepwise::fuzz {

struct outcome {
  bool accepted = true;
  std::string message;  // why it was refused
};

// Must return for any bytes: no crash, no exception, in time and memory that their number bounds.
outcome try_input(std::span<const std::byte> input);

// Ends the process with the message `what` if the condition does not hold.
void require(bool condition, const char* what);

// try_input(), and that a refusal has one readable line of words.
outcome checked(std::span<const std::byte> input);

}  // namespace stepwise::fuzz
