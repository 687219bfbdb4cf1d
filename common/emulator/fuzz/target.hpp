// A fuzz target is one file that defines try_input() for one parser of untrusted bytes.
//
// idea    The same function serves libFuzzer (-Dfuzz=true, .ci/fuzz) and the replay of the corpus
//         in `lab test`. A target turns an input into a result, or into an error that says what is
//         wrong. The target also checks the properties that a result promises.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace stepwise::fuzz {

struct outcome {
  bool accepted = true;
  std::string message;  // why it was refused
};

// Must return for any bytes, without a crash or an exception, in time and memory that are bounded
// by the number of bytes.
outcome try_input(std::span<const std::byte> input);

// Ends the process with the message `what` if the condition does not hold.
void require(bool condition, const char* what);

// Calls try_input(), and requires that a refusal is one readable line of text.
outcome checked(std::span<const std::byte> input);

}  // namespace stepwise::fuzz
