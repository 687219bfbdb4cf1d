// Memory in shares: who waits, who gets, what a killed holder leaves.
#include "grader/system/admission.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "grader/system/files.hpp"

using namespace stepwise;

namespace {

constexpr std::uint64_t megabyte = 1'000'000;
const auto nothing = [] {};

}  // namespace

TEST_CASE("shares are counted in units, and more than there is means all") {
  const temporary_folder folder(fs::temp_directory_path());
  const shared_memory_budget budget(folder.path(), 530 * megabyte);
  CHECK(budget.bytes() / megabyte == 524);
  CHECK(budget.take(300 * megabyte, nothing).units() == 29);
  CHECK(budget.take(5000 * megabyte, nothing).units() == 50);
  CHECK(budget.take(0, nothing).units() == 0);
  setenv("STEPWISE_MEMORY", budget.environment().substr(16).c_str(), 1);
  const auto same = shared_memory_budget::of_environment();
  REQUIRE(same);
  CHECK(same->bytes() == budget.bytes());
  for (const char* wrong : {"", "600", "600:relative", "x:/tmp", "0:/tmp"}) {
    setenv("STEPWISE_MEMORY", wrong, 1);
    CHECK(!shared_memory_budget::of_environment());
  }
  unsetenv("STEPWISE_MEMORY");
  CHECK(usable_memory() > 0);
}

TEST_CASE("whoever finds too little waits, and is not overtaken") {
  const temporary_folder folder(fs::temp_directory_path());
  const shared_memory_budget budget(folder.path(), 210 * megabyte);  // twenty units
  std::optional<memory_share> first = budget.take(110 * megabyte, nothing);
  std::atomic<int> large_waits = 0, small_waits = 0;
  std::atomic<bool> large_has = false, small_came_first = false;
  std::jthread large([&] {
    const auto share = budget.take(200 * megabyte, [&] { ++large_waits; });
    large_has = true;
  });
  while (large_waits == 0) std::this_thread::yield();
  std::jthread small([&] {
    const auto share = budget.take(40 * megabyte, [&] { ++small_waits; });
    small_came_first = !large_has;
  });
  while (small_waits == 0) std::this_thread::yield();
  CHECK(!large_has);
  first.reset();
  large.join();
  small.join();
  CHECK(large_has);
  CHECK(!small_came_first);
}

TEST_CASE("a process that is killed gives back what it held") {
  const temporary_folder folder(fs::temp_directory_path());
  const shared_memory_budget budget(folder.path(), 210 * megabyte);
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const auto share = budget.take(200 * megabyte, nothing);
    (void)!write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  std::atomic<bool> waited = false;
  std::jthread next([&] { (void)budget.take(50 * megabyte, [&] { waited = true; }); });
  while (!waited) std::this_thread::yield();
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  next.join();
  CHECK(waited);
  close(ready[0]);
  close(ready[1]);
}
