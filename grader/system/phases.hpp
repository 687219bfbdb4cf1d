// Where the time of a command goes, by phase: a table at its end, for whoever sets
// STEPWISE_PHASES=1.
//
// Tested by tests/phases_test.cpp.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace stepwise {

// From its construction to its end; a phase within it is not counted twice. Not for what is done
// a million times: a clock is read at both ends. Each thread has its own.
class phase {
 public:
  explicit phase(const char* name);
  ~phase();
  phase(const phase&) = delete;
  phase& operator=(const phase&) = delete;

 private:
  const char* name_;
  phase* const outer_;
  std::chrono::steady_clock::time_point since_;  // what is not counted yet
  void count();
};

struct phase_time {
  std::string name;
  double seconds = 0;
  std::size_t times = 0;
};
// So far, the longest first.
std::vector<phase_time> phase_times();

}  // namespace stepwise
