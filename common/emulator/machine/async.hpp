// Flags of asynchronous operations: what lowering puts into op::immediate for rows_async.cpp.
#pragma once

#include <cstdint>

namespace stepwise::emulator {

// Of operations on a barrier in shared memory.
inline constexpr std::int64_t drops = 1;              // arrive: and is not expected any more
inline constexpr std::int64_t completes_nothing = 2;  // arrive: .noComplete
inline constexpr std::int64_t is_parity = 4;          // wait: for a parity, not a state
inline constexpr std::int64_t subtracts = 8;          // bytes: complete_tx

// Of bulk copies.
inline constexpr std::int64_t from_shared = 1;
inline constexpr std::int64_t to_shared = 2;

}  // namespace stepwise::emulator
