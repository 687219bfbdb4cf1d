// Tests memory reservations: which process waits, which process is next, what a killed holder
// leaves, and the total.
#include "grader/system/admission.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "grader/system/files.hpp"

using namespace stepwise;

namespace {

constexpr std::uint64_t megabyte = 1'000'000;
const auto nothing = [] {};

}  // namespace

TEST_CASE("reservations are counted in units, and a request beyond the total takes everything") {
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

TEST_CASE("a thread that finds too little memory waits, is not overtaken, and gets its share") {
  const temporary_folder folder(fs::temp_directory_path());
  const shared_memory_budget budget(folder.path(), 210 * megabyte);  // twenty units
  std::optional<memory_reservation> first = budget.take(110 * megabyte, nothing);
  std::atomic<int> one_waits = 0, other_waits = 0;
  std::atomic<bool> is_held_up = true, one_has = false, other_came_first = false, stuck = false;
  const auto take_all = [&](std::atomic<int>& waits, const std::function<void()>& hold_up) {
    try {
      return std::optional(budget.take(200 * megabyte, [&] {
        if (++waits > 100) throw std::runtime_error("stuck");
        hold_up();
      }));
    } catch (const std::runtime_error&) {
      stuck = true;
      return std::optional<memory_reservation>();
    }
  };
  std::jthread one([&] {
    const auto reserved = take_all(one_waits, [&] {
      while (is_held_up) std::this_thread::yield();
    });
    one_has = true;
  });
  while (one_waits == 0) std::this_thread::yield();
  std::jthread other([&] {
    const auto reserved = take_all(other_waits, nothing);
    other_came_first = !one_has;
  });
  while (other_waits == 0) std::this_thread::yield();
  CHECK(!one_has);
  first.reset();
  // The memory that `first` held is free now, but it is reserved for `one`, not for `other`.
  while (other_waits < 4) std::this_thread::yield();
  is_held_up = false;
  one.join();
  other.join();
  CHECK(!stuck);
  CHECK(!other_came_first);
}

TEST_CASE("a killed process gives back its reservation") {
  const temporary_folder folder(fs::temp_directory_path());
  const shared_memory_budget budget(folder.path(), 210 * megabyte);
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const auto reserved = budget.take(200 * megabyte, nothing);
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

TEST_CASE("control-group limits count at every level, and inactive file pages count as free") {
  const temporary_folder folder(fs::temp_directory_path());
  const fs::path root = folder.path();
  const auto left = [&](const char* memberships) {
    return memory_left_in_groups(memberships, root) / megabyte;
  };
  const std::uint64_t none = memory_left_in_groups("", root) / megabyte;
  CHECK(left("0::/job/step\n4:cpu:/job\n") == none);
  // Slurm sets the limit on the job, and no limit on the step below it.
  write_atomically(root / "job/memory.max", "500000000\n");
  write_atomically(root / "job/memory.current", "400000000\n");
  write_atomically(root / "job/step/memory.max", "max\n");
  write_atomically(root / "job/step/memory.current", "300000000\n");
  CHECK(left("0::/job/step\n") == 100);
  CHECK(left("0::/other\n") == none);
  write_atomically(root / "job/memory.stat", "anon 1\nfile 2\ninactive_file 150000000\n");
  CHECK(left("0::/job/step\n") == 250);
  // A container's root is its own group, no matter which path the kernel reports.
  write_atomically(root / "memory.max", "90000000\n");
  write_atomically(root / "memory.current", "91000000\n");
  CHECK(left("0::/nowhere/at/all\n") == 0);
  fs::remove(root / "memory.max");
  write_atomically(root / "memory/a/memory.limit_in_bytes", "70000000\n");
  write_atomically(root / "memory/a/memory.usage_in_bytes", "60000000\n");
  write_atomically(root / "memory/a/memory.stat", "total_inactive_file 5000000\n");
  CHECK(left("9:name=systemd:/a\n4:memory:/a/b\n0::/\n") == 15);
}
