// A thread for every CPU, waiting for work. The CPU baselines compute with these threads.
//
// idea    Starting a thread takes longer than adding up a million numbers, so threads are started
//         once, and poll for work for a while before they sleep.
// watch   A band of work goes to the same thread each time. Filling an array in bands places its
//         pages in the memory next to the thread that will compute with them (first touch).
// tested  common/cpu/tests/host_test.cpp
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace stepwise::host {

class thread_team {
 public:
  // Starts size - 1 threads, because the caller of run() is a member, or fewer if the system has no
  // more threads.
  explicit thread_team(int size);
  ~thread_team();
  thread_team(const thread_team&) = delete;
  thread_team& operator=(const thread_team&) = delete;

  int size() const { return static_cast<int>(others_.size()) + 1; }

  // Calls body(member) once for each member 0, 1, ... size() - 1, all at the same time, and waits
  // for all of them. `body` must not throw, nor call run(). One call at a time.
  void run(const std::function<void(int)>& body);

 private:
  void serve(int member);

  std::vector<std::jthread> others_;
  const std::function<void(int)>* body_ = nullptr;  // null: the team ends
  std::atomic<std::uint32_t> round_{0};             // number of the current round of work
  std::atomic<int> busy_{0};                        // other threads that still work in this round
};

// thread_count() threads, started by the first call.
thread_team& all_threads();

// Calls part(begin, end) for bands that cover 0, 1, ... count - 1 once. There is one band per
// thread, bands begin at multiples of `grain`, and they are the same each time. Small work uses
// fewer threads.
template <class Part>
void in_bands(std::int64_t count, std::int64_t grain, const Part& part) {
  const std::int64_t grains = (count + grain - 1) / grain;
  thread_team& team = all_threads();
  const std::int64_t bands = std::min<std::int64_t>(team.size(), grains);
  if (bands <= 1) {
    if (count > 0) part(std::int64_t{0}, count);
    return;
  }
  team.run([&](int member) {
    if (member >= bands) return;
    part(grains * member / bands * grain, std::min(count, grains * (member + 1) / bands * grain));
  });
}

// Calls part(i) once for each i = 0, 1, ... count - 1. A thread that is done takes the next i,
// because the parts may take different times.
template <class Part>
void in_chunks(std::int64_t count, const Part& part) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&](int) {
    for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) part(i);
  };
  if (count <= 1) {
    work(0);
  } else {
    all_threads().run(work);
  }
}

}  // namespace stepwise::host
