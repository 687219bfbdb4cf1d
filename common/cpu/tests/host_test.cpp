// Tests of the thread team that runs CPU baselines, and of the queries about the CPU.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "common/cpu/clones.hpp"
#include "common/cpu/cpu.hpp"
#include "common/cpu/thread_team.hpp"

namespace {

using namespace stepwise::host;

TEST_CASE("all members of a team run at the same time, in every round") {
  thread_team team(3);
  REQUIRE(team.size() == 3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> calls(3, 0);
    std::atomic<int> here{0};
    team.run([&](int member) {
      ++calls[static_cast<std::size_t>(member)];
      ++here;
      while (here < 3) std::this_thread::yield();  // returns only if all three members run at once
    });
    REQUIRE(calls == std::vector<int>{1, 1, 1});
  }
}

TEST_CASE("a sleeping team wakes up, and a team that never worked can be destroyed") {
  thread_team team(2), idle(4);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<int> calls{0};
    team.run([&](int) { ++calls; });
    CHECK(calls == 2);
  }
  CHECK(thread_team(0).size() == 1);
}

TEST_CASE(
    "bands cover every element once, begin at multiples of the grain, and are the same each time") {
  for (const std::int64_t count : {0, 1, 7, 8, 9, 100, 4097}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
    std::set<std::pair<std::int64_t, std::int64_t>> bands[2];
    for (auto& found : bands) {
      std::mutex one_at_a_time;
      in_bands(count, 8, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
        const std::lock_guard lock(one_at_a_time);
        found.insert({begin, end});
      });
    }
    CAPTURE(count);
    CHECK(bands[0] == bands[1]);
    for (const auto& [begin, end] : bands[0]) {
      CHECK(begin % 8 == 0);
      CHECK(begin < end);
    }
    for (const auto& times : seen) REQUIRE(times == 2);
  }
}

TEST_CASE("in_chunks handles every index once") {
  for (const std::int64_t count : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
    in_chunks(count, [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
    for (const auto& times : seen) REQUIRE(times == 1);
  }
}

STEPWISE_CLONES unsigned sum(const unsigned* values, std::int64_t count) {
  unsigned total = 0;
  for (std::int64_t i = 0; i < count; ++i) total += values[i];
  return total;
}

TEST_CASE("a function that is compiled for several instruction sets computes the right sum") {
  std::vector<unsigned> values(1000);
  std::iota(values.begin(), values.end(), 1u);
  CHECK(sum(values.data(), 1000) == 500500);
}

TEST_CASE("the number of threads follows the machine, the control group and the user") {
  CHECK(cpus_of_quota("200000 100000\n") == 2);
  CHECK(cpus_of_quota("50000 100000\n") == 1);
  CHECK(cpus_of_quota("max 100000\n") == 0);
  CHECK(cpus_of_quota("") == 0);
  CHECK(threads_wanted("3") == 3);
  CHECK(threads_wanted("3,2") == 3);
  CHECK(threads_wanted("") == 0);
  CHECK(threads_wanted("-1") == 0);
  CHECK(threads_wanted("all") == 0);
  CHECK(thread_count() >= 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  CHECK(thread_count() == 1);
  setenv("OMP_NUM_THREADS", "5", 1);
  CHECK(thread_count() == 5);
  unsetenv("OMP_NUM_THREADS");
}

TEST_CASE("the CPU's name is the model name that Linux reports") {
  CHECK(name_in("processor\t: 0\nmodel name\t: A CPU @ 3 GHz\nflags\t: fpu\n") == "A CPU @ 3 GHz");
  CHECK(name_in("processor\t: 0\n") == "");
  CHECK(name_in("model name") == "");
  CHECK(!cpu_name().empty());
}

}  // namespace
