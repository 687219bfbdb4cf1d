// Measures durations.
#pragma once

#include <chrono>

namespace stepwise {

// Uses a clock that is never adjusted.
inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace stepwise
