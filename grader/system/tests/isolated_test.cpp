// Tests the results of isolated computations, and the actions that they cannot take.
#include "grader/system/isolated.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <vector>

#include "common/testing/skip_case.hpp"
#include "grader/system/system_calls.hpp"

using namespace stepwise;

TEST_CASE("an isolated computation returns its answer, and changes nothing else") {
  int here = 1;
  CHECK(run_isolated([&] {
          here = 2;
          std::vector<int> large(1 << 22, 7);
          return "answer " + std::to_string(large.back());
        }) == "answer 7");
  CHECK(here == 1);
  CHECK(run_isolated([] { return std::string(); }) == "");
}

TEST_CASE("an isolated computation that fails, hangs, or returns too much gives no answer") {
  CHECK(!run_isolated([]() -> std::string { throw 1; }));
  CHECK(!run_isolated([]() -> std::string { std::abort(); }));
  CHECK(!run_isolated([] { return std::string(5000, 'x'); }));
  CHECK(run_isolated([] { return std::string(5000, 'x'); }, 10, 5000)->size() == 5000);
  CHECK(!run_isolated([] { return std::string(std::size_t{3} << 30, 'x'); }));
  CHECK(!run_isolated(
      []() -> std::string {
        for (std::atomic<unsigned> i = 0;; ++i) {
        }
      },
      1));
}

TEST_CASE("an isolated computation can open no file and start no process") {
  if (!has_system_call_filters()) return skip_case("this kernel has no system-call filters");
  CHECK(!run_isolated([] { return std::to_string(open("/dev/null", O_RDONLY)); }));
  CHECK(!run_isolated([] { return std::to_string(fork()); }));
  CHECK(!run_isolated([] { return std::to_string(getppid()); }));
}
