// Tests threads that are kept between launches. Each thread does its task once, and is then reused.
#include "common/emulator/worker_threads.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <set>
#include <thread>
#include <vector>

using stepwise::emulator::worker_threads;

namespace worker_threads_test {
namespace {

std::thread::id thread_of_a_task(worker_threads& threads) {
  std::thread::id id;
  {
    const auto task = threads.start([&] { id = std::this_thread::get_id(); });
  }
  return id;
}

TEST_CASE("successive tasks run on the same thread, which is not the caller's") {
  worker_threads threads;
  const auto first = thread_of_a_task(threads);
  CHECK(first != std::thread::id{});
  CHECK(first != std::this_thread::get_id());
  for (int n = 0; n < 1000; ++n) REQUIRE(thread_of_a_task(threads) == first);
  // By then the thread has slept.
  usleep(20000);
  CHECK(thread_of_a_task(threads) == first);
}

TEST_CASE(
    "tasks that wait for each other run at the same time, and their owner waits for their ends") {
  worker_threads threads;
  std::atomic<int> arrived{0};
  std::atomic<int> ended{0};
  for (int round = 1; round <= 20; ++round) {
    {
      std::vector<worker_threads::task> tasks;
      for (int n = 0; n < 5; ++n) {
        tasks.push_back(threads.start([&] {
          ++arrived;
          while (arrived < 5 * round) std::this_thread::yield();
          ++ended;
        }));
      }
      if (round % 2 == 0)
        for (const auto& task : tasks) task.look_for_end();
    }
    REQUIRE(ended == 5 * round);
  }
}

TEST_CASE("a long task does not keep other tasks from starting and ending") {
  worker_threads threads;
  std::atomic<bool> let_go{false}, done{false};
  std::optional<worker_threads::task> first{threads.start([&] {
    while (!let_go) std::this_thread::yield();
    done = true;
  })};
  std::set<std::thread::id> ids;
  for (int n = 0; n < 100; ++n) ids.insert(thread_of_a_task(threads));
  CHECK(ids.size() == 1);
  CHECK(!done);
  let_go = true;
  first.reset();
  CHECK(done);
}

TEST_CASE("an owner waits for a task that ends long after the wait began") {
  worker_threads threads;
  bool ended = false;
  {
    const auto task = threads.start([&] {
      usleep(30000);
      ended = true;
    });
    task.look_for_end();
  }
  CHECK(ended);
}

TEST_CASE("the program's signals go to its own threads, but faults stay where they happen") {
  worker_threads threads;
  sigset_t mask, before, after;
  sigemptyset(&mask);
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    const auto task = threads.start([&] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); });
  }
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int s : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD})
    CHECK(sigismember(&mask, s) == 1);
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) CHECK(sigismember(&mask, s) == 0);
  for (const int s : {SIGINT, SIGUSR1}) CHECK(sigismember(&before, s) == sigismember(&after, s));
}

TEST_CASE("a child of fork has its own threads") {
  worker_threads threads;
  const auto in_parent = thread_of_a_task(threads);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);
    int sum = 0;
    for (int n = 0; n < 10; ++n) {
      const auto task = threads.start([&] { ++sum; });
    }
    threads.~worker_threads();
    _exit(sum == 10 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(thread_of_a_task(threads) == in_parent);
}

}  // namespace
}  // namespace worker_threads_test
