// Nested phases.
#include "grader/system/phases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

using namespace stepwise;

TEST_CASE("the time of a nested phase is counted once") {
  const auto seconds = [](const std::string& name) {
    for (const auto& p : phase_times())
      if (p.name == name) return p.seconds;
    return 0.0;
  };
  {
    const phase outer("test: outer");
    const phase inner("test: inner");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(seconds("test: inner") >= 0.02);
  CHECK(seconds("test: outer") < seconds("test: inner"));
}
