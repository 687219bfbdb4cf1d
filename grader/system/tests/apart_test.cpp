// What comes back from a computation apart, and what it cannot do.
#include "grader/system/apart.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <vector>

#include "common/testing/skip_case.hpp"
#include "grader/system/system_calls.hpp"

using namespace stepwise;

TEST_CASE("an answer comes back from a computation apart, and nothing else changes") {
  int here = 1;
  CHECK(computed_apart([&] {
          here = 2;
          std::vector<int> large(1 << 22, 7);
          return "answer " + std::to_string(large.back());
        }) == "answer 7");
  CHECK(here == 1);
  CHECK(computed_apart([] { return std::string(); }) == "");
}

TEST_CASE("a computation apart that fails, hangs, or says too much has no answer") {
  CHECK(!computed_apart([]() -> std::string { throw 1; }));
  CHECK(!computed_apart([]() -> std::string { std::abort(); }));
  CHECK(!computed_apart([] { return std::string(5000, 'x'); }));
  CHECK(computed_apart([] { return std::string(5000, 'x'); }, 10, 5000)->size() == 5000);
  CHECK(!computed_apart([] { return std::string(std::size_t{3} << 30, 'x'); }));
  CHECK(!computed_apart(
      []() -> std::string {
        for (std::atomic<unsigned> i = 0;; ++i) {
        }
      },
      1));
}

TEST_CASE("a computation apart opens nothing and starts nothing") {
  if (!has_system_call_filters()) return skip_case("this kernel has no filters of system calls");
  CHECK(!computed_apart([] { return std::to_string(open("/dev/null", O_RDONLY)); }));
  CHECK(!computed_apart([] { return std::to_string(fork()); }));
  CHECK(!computed_apart([] { return std::to_string(getppid()); }));
}
