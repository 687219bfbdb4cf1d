// How long something has taken.
#pragma once

#include <chrono>

namespace stepwise {

// Of a clock that is never set.
inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace stepwise
