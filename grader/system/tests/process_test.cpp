// Tests child processes: output, limits and signals.
#include "grader/system/process.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/parallel.hpp"

using namespace stepwise;

namespace {

child_options shell(const std::string& script) {
  child_options options;
  options.command = {"/bin/sh", "-c", script};
  return options;
}

// Whether a process is running. A process that has ended remains a zombie until init reaps it.
bool is_alive(pid_t id) {
  const std::string state = read_if_there("/proc/" + std::to_string(id) + "/stat").value_or("");
  const auto name_ends = state.rfind(") ");
  return name_ends != std::string::npos && state.substr(name_ends + 2, 1) != "Z";
}

}  // namespace

TEST_CASE("output and exit code are returned") {
  const auto result = run_child(shell("echo out; echo err >&2; exit 3"), 10);
  CHECK(result.end.how == child_end::cause::exited);
  CHECK(result.end.exit_code == 3);
  CHECK(result.out == "out\n");
  CHECK(result.err == "err\n");
}

TEST_CASE("a signal has a name") {
  const auto result = run_child(shell("kill -SEGV $$"), 10);
  CHECK(result.end.how == child_end::cause::signalled);
  CHECK(result.end.signal == SIGSEGV);
  CHECK(signal_text(result.end.signal) == "segmentation fault (SIGSEGV)");
}

TEST_CASE("the deadline kills the child and everything that it started") {
  const auto result = run_child(shell("sleep 100 & echo $!; wait"), 1);
  CHECK(result.end.how == child_end::cause::deadline);
  CHECK(result.end.wall_s < 20);
  const pid_t grandchild = std::stoi(result.out);
  for (int i = 0; i < 100 && is_alive(grandchild); ++i) usleep(20'000);
  CHECK(!is_alive(grandchild));
}

TEST_CASE("a grandchild that keeps the pipes open does not block us") {
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_child(shell("sleep 100 & echo done"), 20);
  CHECK(result.end.ok());
  CHECK(result.out == "done\n");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

TEST_CASE("a flood of output is limited in memory, and the program is killed") {
  auto options = shell("yes 0123456789");
  options.flood_bytes = 1 << 20;
  options.keep_bytes = 1000;
  const auto result = run_child(options, 20);
  CHECK(result.end.how == child_end::cause::flooded);
  CHECK(result.out.size() < 1200);
  CHECK(result.out.find("bytes left out") != std::string::npos);
}

TEST_CASE("tasks are counted, which is slow, only when there is nothing to read") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  child_options options = shell("sleep 20 & sleep 20 & sleep 20 & wait");
  options.counted_tasks = 1;
  bool has_ticked = false;
  options.tick = [&] { has_ticked = true; };
  child many(std::move(options));
  usleep(300'000);
  REQUIRE(write(ends[1], "x", 1) == 1);
  CHECK(many.wait(5, ends[0]) == child::event::readable);
  CHECK(many.wait(0) == child::event::deadline);
  usleep(100'000);
  CHECK(many.wait(0) == child::event::deadline);  // not counted, so the child continues
  CHECK_FALSE(has_ticked);
  CHECK(many.wait(5) == child::event::ended);
  CHECK(many.end(child_end::cause::exited).too_many_tasks);
  close(ends[0]), close(ends[1]);
}

TEST_CASE("bounded_text keeps the head and the tail") {
  bounded_text text(20);
  for (int i = 0; i < 1000; ++i) text.append("0123456789", 10);
  text.append("the end", 7);
  CHECK(text.total() == 10007);
  CHECK(text.text().starts_with("0123456789\n[... "));
  CHECK(text.text().ends_with("789the end"));
}

TEST_CASE("limits apply in the child") {
  auto options = shell(
      "dd if=/dev/zero of=/tmp/stepwise-limit-$$ bs=1M count=8 2>/dev/null; rc=$?; "
      "rm -f /tmp/stepwise-limit-$$; exit $rc");
  options.file_limit_bytes = 1 << 20;
  CHECK(!run_child(options, 20).end.ok());
}

TEST_CASE("given descriptors are passed as 3, 4 and so on, and no others") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  auto options = shell("ls /proc/self/fd | tr '\\n' ' '; echo hello >&3");
  options.pass = {ends[1]};
  const auto result = run_child(options, 10);
  char text[6] = "";
  CHECK(read(ends[0], text, 6) == 6);
  CHECK(std::string(text, 5) == "hello");
  // ls itself opens one more, for the folder that it reads.
  CHECK(result.out == "0 1 2 3 4 ");
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("the environment is changed entry by entry") {
  setenv("STEPWISE_TEST_KEPT", "kept", 1);
  setenv("STEPWISE_TEST_GONE", "there", 1);
  auto options = shell("echo $STEPWISE_TEST_KEPT-$STEPWISE_TEST_GONE-$STEPWISE_TEST_NEW");
  options.environment = {"STEPWISE_TEST_GONE", "STEPWISE_TEST_NEW=new"};
  CHECK(run_child(options, 10).out == "kept--new\n");
}

TEST_CASE("a program that cannot be started says why") {
  child_options options;
  options.command = {"/nowhere/program"};
  CHECK_THROWS_WITH_AS(child{options}, "cannot start /nowhere/program: No such file or directory",
                       failure);
}

TEST_CASE("jobs run in parallel, each once, and the first failure stops the rest") {
  std::vector<std::atomic<int>> runs(20);
  std::atomic<int> now = 0, most = 0;
  in_parallel(
      runs.size(), 4,
      [&](std::size_t i) {
        ++runs[i];
        int together = ++now, before = most;
        while (together > before && !most.compare_exchange_weak(before, together)) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        --now;
      },
      [](std::size_t) {});
  for (const auto& count : runs) CHECK(count == 1);
  CHECK(most >= 2);
  CHECK(most <= 4);
  std::atomic<int> started = 0;
  const auto failing = [&](std::size_t i) {
    ++started;
    if (i == 1) throw failure(exit_code::environment, "no room");
  };
  CHECK_THROWS_AS(in_parallel(1000, 1, failing, [](std::size_t) {}), failure);
  CHECK(started == 2);
  in_parallel(0, 4, failing, [](std::size_t) {});
  CHECK(workers_for(std::uint64_t{1} << 60) == 1);
}
