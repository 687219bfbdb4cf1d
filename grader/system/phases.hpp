// Measures a command's time by phase. STEPWISE_PHASES=1 prints a table at its end.
//
// Tested by tests/phases_test.cpp.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace stepwise {

// Measures from construction to destruction. A phase within another phase is not counted twice. Do
// not use this for code that runs a million times, because both ends read a clock. Each thread has
// its own phases.
class phase {
 public:
  explicit phase(const char* name);
  ~phase();
  phase(const phase&) = delete;
  phase& operator=(const phase&) = delete;

 private:
  const char* name_;
  phase* const outer_;
  std::chrono::steady_clock::time_point since_;  // start of the time not yet counted
  void count();
};

struct phase_time {
  std::string name;
  double seconds = 0;
  std::size_t times = 0;
};
// The times up to now, the longest first.
std::vector<phase_time> phase_times();

}  // namespace stepwise
