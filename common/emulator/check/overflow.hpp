// Finds the 32-bit operation whose result did not fit, where an address is out of bounds.
//
// idea    The registers still hold the operands of the address. The index is computed a second time
//         from them, with no limit. If this value differs from the operand of the instruction that
//         widens the index to 64 bits, the index has wrapped, and the innermost operation whose
//         exact result does not fit is the reason. Each operation is trusted only if its operands
//         still give the value that its result has.
// watch   A register with several definitions ends the search: an index that a loop counts up is
//         not explained.
//         Tested by tests/overflow_test.cpp and tests/programs/faulty/bounds/.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/emulator/check/advice/register_flow.hpp"

namespace stepwise::emulator {

struct overflowed_index {
  std::int32_t instruction = -1;
  std::string operation;  // "8388608 * 256"
  std::string exact;      // "2147483648"
  bool is_signed = true;  // the type that did not hold it: int, else unsigned
};

// `value_of`: the present value of a register; nullopt if it has none.
std::optional<overflowed_index> find_overflow(
    const register_flow& flow, std::int32_t access,
    const std::function<std::optional<std::uint64_t>(std::string_view)>& value_of);

}  // namespace stepwise::emulator
