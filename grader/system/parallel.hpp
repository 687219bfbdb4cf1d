// Several jobs at a time, each on a thread of its own.
//
// Tested by tests/process_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace stepwise {

// Calls job(0), ..., job(count - 1), `workers` of them at a time (at least one). Returns when all
// are done. `tick` is called on the caller's thread about ten times a second, with the number of
// jobs that are done. The first exception keeps further jobs from starting, and is thrown here when
// those in progress have ended.
void in_parallel(std::size_t count, std::size_t workers,
                 const std::function<void(std::size_t)>& job,
                 const std::function<void(std::size_t done)>& tick);

// How many jobs that take `bytes_each` this machine has cores and free memory for; at least one.
std::size_t workers_for(std::uint64_t bytes_each);

}  // namespace stepwise
