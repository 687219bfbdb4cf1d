// Runs several jobs at a time, each on its own thread.
//
// Tested by tests/process_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace stepwise {

// Calls job(0), ..., job(count - 1), `workers` at a time (at least one). Returns when all have
// finished. `tick` is called on the caller's thread about ten times a second, with the number of
// finished jobs. After the first exception, no further job starts, and the exception is thrown here
// when the running jobs have ended.
void in_parallel(std::size_t count, std::size_t workers,
                 const std::function<void(std::size_t)>& job,
                 const std::function<void(std::size_t done)>& tick);

// The number of jobs of `bytes_each` that fit this machine's cores and free memory, at least one.
std::size_t workers_for(std::uint64_t bytes_each);

}  // namespace stepwise
