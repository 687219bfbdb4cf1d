// Asynchronous operations: the flags that lowering puts into op::immediate for ops_async.cpp, and
// the layout of an mbarrier's word.
#pragma once

#include <cstdint>

namespace stepwise::emulator {

// Options of operations on a barrier in shared memory.
inline constexpr std::int64_t drops = 1;  // arrive_drop: later phases expect fewer arrivals
inline constexpr std::int64_t completes_nothing = 2;  // arrive: .noComplete
inline constexpr std::int64_t is_parity = 4;          // wait: for a parity, not a state
inline constexpr std::int64_t subtracts = 8;          // bytes: complete_tx

// Options of bulk copies.
inline constexpr std::int64_t from_shared = 1;
inline constexpr std::int64_t to_shared = 2;

// The bits at which the fields of an mbarrier's word begin: the arrivals that complete a phase (bit
// 0), the arrivals still missing, the bytes of copies still missing (two's complement), the phase's
// parity, and a mark that shows that the word was initialised.
inline constexpr int mbarrier_pending_at = 20, mbarrier_bytes_at = 40, mbarrier_parity_at = 61,
                     mbarrier_mark_at = 62;
inline constexpr std::int64_t most_mbarrier_count = (1 << 20) - 1;
inline constexpr std::uint64_t mbarrier_mark = 2;

}  // namespace stepwise::emulator
