// Runs a computation on untrusted bytes in an isolated process.
//
// idea    This is a fork without exec: the child has a copy of the data, and may only compute,
//         allocate memory and write its answer into a pipe. An exploited bug in the computation
//         cannot reach further than that process. The result is a text of limited size, which the
//         caller must validate.
// watch   The child has one thread. Files that `compute` needs must be read before the call.
// Tested by tests/isolated_test.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace stepwise {

// The result of `compute`. nullopt if it exceeded `seconds`, 1 GiB of memory or `most_bytes` of
// answer, or ended in any other way. Without seccomp filters, only the limits hold.
std::optional<std::string> run_isolated(const std::function<std::string()>& compute,
                                        unsigned seconds = 10, std::size_t most_bytes = 4096);

}  // namespace stepwise
