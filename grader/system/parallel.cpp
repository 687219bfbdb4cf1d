// Threads take jobs from a queue that keeps the first failure. Memory limits their number.
#include "grader/system/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "grader/system/admission.hpp"

namespace stepwise {
namespace {

constexpr auto tick_time = std::chrono::milliseconds(100);

// State that the threads share.
class job_queue {
 public:
  job_queue(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& job)
      : count_(count), job_(job), working_(threads) {}

  void work() {
    for (std::size_t i = next_++; i < count_ && !stopped_; i = next_++) {
      try {
        job_(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failed_) failed_ = std::current_exception();
        stopped_ = true;
      }
      ++done_;
    }
    const std::lock_guard lock(mutex_);
    --working_;
    ended_.notify_all();
  }

  void wait(const std::function<void(std::size_t)>& tick) {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, tick_time, [&] { return working_ == 0; })) {
      lock.unlock();
      tick(done_);
      lock.lock();
    }
  }

  void stop() { stopped_ = true; }
  void rethrow() const {
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  const std::size_t count_;
  const std::function<void(std::size_t)>& job_;
  std::atomic<std::size_t> next_ = 0, done_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t working_;  // threads
  std::exception_ptr failed_;
};

}  // namespace

void in_parallel(std::size_t count, std::size_t workers,
                 const std::function<void(std::size_t)>& job,
                 const std::function<void(std::size_t done)>& tick) {
  const std::size_t threads = std::max<std::size_t>(1, std::min(count, workers));
  job_queue queue(count, threads, job);
  {
    std::vector<std::jthread> pool;
    for (std::size_t i = 0; i < threads; ++i) pool.emplace_back([&] { queue.work(); });
    try {
      queue.wait(tick);
    } catch (...) {
      queue.stop();
      throw;
    }
  }
  queue.rethrow();
}

std::size_t workers_for(std::uint64_t bytes_each) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return std::clamp<std::size_t>(usable_memory() / bytes_each, 1, cores);
}

}  // namespace stepwise
