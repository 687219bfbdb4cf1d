// Threads that run blocks of grids in parallel with the thread that launches, and wait for the next
// launch in between.
//
// idea    The OS may place a new thread on the CPU that its creator keeps busy, where it stays for
//         longer than a small launch takes. A thread that has run before wakes up where it ran.
//         Threads are therefore kept, and look for work for a while before they sleep.
//         Tested by tests/worker_threads_test.cpp; `meson test --benchmark two-workers-*`.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace stepwise::emulator {

class worker_threads {
  struct worker;

 public:
  // A function that runs on one of the threads. Its destructor waits for the function's end.
  class task {
   public:
    task(task&& other) noexcept;
    task& operator=(task&&) = delete;
    ~task();

    // Returns when the function has ended, or after the time that waking this thread would take.
    void look_for_end() const;

   private:
    friend worker_threads;
    task(worker_threads& of, worker& on) : of_(&of), on_(&on) {}
    worker_threads* of_;  // null: moved from
    worker* on_;
  };

  worker_threads();
  // Ends the threads. All tasks must have been destroyed.
  ~worker_threads();
  worker_threads(const worker_threads&) = delete;
  worker_threads& operator=(const worker_threads&) = delete;

  // Calls `work`, which must not throw, on an idle thread or, if there is none, on a new thread.
  // The threads receive only the signals of their own faults. A child of fork(), which has none of
  // its parent's threads, makes its own. Any thread may call this.
  [[nodiscard]] task start(std::function<void()> work);

 private:
  static void serve(worker& self);
  void forget_those_of_parent();

  std::mutex mutex_;  // guards the members below
  std::vector<std::unique_ptr<worker>> all_;
  std::vector<worker*> idle_;  // the last one to become idle is the next to work
  long process_ = 0;           // the process of the threads; 0: there are none
};

}  // namespace stepwise::emulator
