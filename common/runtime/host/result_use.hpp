// Whether the code that called a function looks at the number which the function returned.
//
// idea    An API call cannot see what becomes of its result. The machine code after the call shows
//         it: the result is in EAX, and is ignored where it is overwritten before any instruction
//         reads it. Jumps are followed, on both ways of a branch.
// watch   It is not followed into memory: a result that is stored counts as looked at.
// tests   ../tests/result_use_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stepwise::runtime {

enum class result_use : std::uint8_t {
  looked_at,
  ignored,
  returned,  // the function may return it to its own caller
  unknown
};

// What happens to EAX from the instruction `first` bytes into `code` on.
result_use use_of_result(std::span<const std::uint8_t> code, std::size_t first);

// The same for a call of this process: its return addresses on the stack, innermost first. A result
// that one function returns to the next is followed there. `frames`: how many of them it passed.
struct followed_result {
  result_use use = result_use::unknown;
  std::size_t frames = 0;
};
followed_result follow_result(std::span<const std::uintptr_t> return_addresses);

}  // namespace stepwise::runtime
