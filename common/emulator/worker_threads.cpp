// Keeps threads, and gives them work.
#include "common/emulator/worker_threads.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <thread>
#include <utility>

#if !defined(__wasm__)
#include <signal.h>
#include <unistd.h>
#endif

namespace stepwise::emulator {
namespace {

// The time for which a thread looks for work before it sleeps: about as long as it takes to wake
// it.
constexpr std::chrono::microseconds longest_look{50};

#if defined(__wasm__)
struct without_signals {};
long this_process() { return 1; }
#else
// Blocks the signals of this thread, and of threads that it creates, for the object's life.
class without_signals {
 public:
  without_signals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      sigdelset(&blocked, fault);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~without_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;

 private:
  sigset_t before_;
};
long this_process() { return getpid(); }
#endif

}  // namespace

struct worker_threads::worker {
  enum class state { idle, working, over };
  std::atomic<state> now{state::idle};
  std::function<void()> work;  // set while the thread works
  std::mutex mutex;            // held while `now` changes
  std::condition_variable changed;
  std::jthread thread;

  void change_to(state next) {
    const std::lock_guard lock(mutex);
    now.store(next, std::memory_order_release);
    changed.notify_all();
  }
  bool is(state s) const { return now.load(std::memory_order_acquire) == s; }
  // Returns when the state is no longer `old`, or after `longest_look`.
  void look_while(state old) const {
    using steady = std::chrono::steady_clock;
    for (const auto until = steady::now() + longest_look; is(old) && steady::now() < until;) {
    }
  }
  // Returns when the state is no longer `old`.
  void wait_while(state old) {
    look_while(old);
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !is(old); });
  }
};

worker_threads::worker_threads() = default;

worker_threads::task::task(task&& other) noexcept
    : of_(std::exchange(other.of_, nullptr)), on_(other.on_) {}

worker_threads::task::~task() {
  if (of_ == nullptr) return;
  on_->wait_while(worker::state::working);
  const std::lock_guard lock(of_->mutex_);
  of_->idle_.push_back(on_);
}

void worker_threads::task::look_for_end() const { on_->look_while(worker::state::working); }

void worker_threads::serve(worker& self) {
  for (;;) {
    self.wait_while(worker::state::idle);
    if (self.is(worker::state::over)) return;
    self.work();
    self.work = nullptr;
    self.change_to(worker::state::idle);
  }
}

worker_threads::task worker_threads::start(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  forget_those_of_parent();
  if (idle_.empty()) {
    all_.push_back(std::make_unique<worker>());
    worker& fresh = *all_.back();
    [[maybe_unused]] const without_signals signals_blocked;
    fresh.thread = std::jthread([&fresh] { serve(fresh); });
    idle_.push_back(&fresh);
  }
  worker& next = *idle_.back();
  idle_.pop_back();
  next.work = std::move(work);
  next.change_to(worker::state::working);
  return {*this, next};
}

// Objects of threads that do not exist in this process cannot be destroyed.
void worker_threads::forget_those_of_parent() {
  const long process = this_process();
  if (process_ != 0 && process_ != process) {
    for (auto& w : all_) (void)w.release();
    all_.clear();
    idle_.clear();
  }
  process_ = process;
}

worker_threads::~worker_threads() {
  if (process_ != 0) forget_those_of_parent();
  for (const auto& w : all_) w->change_to(worker::state::over);
  all_.clear();
}

}  // namespace stepwise::emulator
