// A computation on bytes that nobody trusts, in an isolated process.
//
// idea    fork without exec: the child has a copy of what is to be looked at, may compute, take
//         memory and write its answer into a pipe, and nothing else. A mistake in the computation
//         that such bytes could use ends there: what comes back is a bounded text, which the caller
//         holds against what it may be.
// watch   The child has one thread. What `compute` needs of other files it must have read before.
// Tested by tests/isolated_test.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace stepwise {

// What `compute` returned; nothing if it took longer than `seconds`, more than 1 GiB of memory or
// `most_bytes` of answer, or ended in any other way. Without seccomp filters only the limits hold.
std::optional<std::string> run_isolated(const std::function<std::string()>& compute,
                                        unsigned seconds = 10, std::size_t most_bytes = 4096);

}  // namespace stepwise
