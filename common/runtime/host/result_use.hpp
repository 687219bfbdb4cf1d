// Finds out whether the code that called a function looks at the number that it returned.
//
// idea    An API call cannot see the use of its result, but the machine code after the call shows
//         the use. The result is in EAX, and it is ignored if EAX is overwritten before any
//         instruction reads it. Jumps are followed, and so are both paths of a branch.
// watch   The result is not followed into memory: a result that is stored counts as looked at.
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

// The use of EAX by the code that starts at the instruction `first` bytes into `code`.
result_use use_of_result(std::span<const std::uint8_t> code, std::size_t first);

// The same for a call in this process, given its return addresses on the stack, innermost first. If
// a function returns the result to its caller, the result is followed there. `frames`: the number
// of frames that the result passed.
struct followed_result {
  result_use use = result_use::unknown;
  std::size_t frames = 0;
};
followed_result follow_result(std::span<const std::uintptr_t> return_addresses);

}  // namespace stepwise::runtime
