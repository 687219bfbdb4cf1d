// Threads that are kept between launches: each does what it is given, once, and is used again.
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

TEST_CASE("one task after the other runs on the same thread, which is not the caller's") {
  worker_threads threads;
  const auto first = thread_of_a_task(threads);
  CHECK(first != std::thread::id{});
  CHECK(first != std::this_thread::get_id());
  for (int n = 0; n < 1000; ++n) REQUIRE(thread_of_a_task(threads) == first);
  // It has slept by then.
  usleep(20000);
  CHECK(thread_of_a_task(threads) == first);
}

TEST_CASE("tasks that wait for each other run at the same time, and their ends are waited for") {
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

TEST_CASE("a task that continues does not keep others from starting and ending") {
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

TEST_CASE("a task that ends long after its owner has begun to wait is waited for") {
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

TEST_CASE("the program's signals go to its own threads; faults stay where they happen") {
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

TEST_CASE("a child of fork has threads of its own") {
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
