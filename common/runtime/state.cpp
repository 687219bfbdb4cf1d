// Creates, waits for and resets the device, and remembers the fault that lost it.
#include "common/runtime/state.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "common/device/patience.hpp"
#include "common/runtime/errors.hpp"
#include "common/runtime/host/guarded_pages.hpp"
#include "common/runtime/host_access.hpp"
#include "common/runtime/profile_output.hpp"

namespace stepwise::runtime {
namespace {

constexpr std::chrono::microseconds between_looks{200};
constexpr std::chrono::milliseconds longest_delay{100};
constexpr std::size_t most_delayed = 2048;  // items; a GPU's queue is bounded, too

void advance_order(state& s, bool outside_too) {
  if (s.order.empty() || !s.current) return;
  status outcome = s.order.advance(*s.current, s.lock, outside_too);
  if (outcome.ok()) return;
  // The arguments were valid when the work was submitted, so this is a launch failure.
  if (!is_fault(outcome.code)) outcome.code = error::launch_failure;
  if (s.fault.ok()) s.lose(std::move(outcome));
}

// Runs outstanding work, in a separate thread, while no thread of the program waits for it. The
// state is never destroyed, so the thread may outlive the program's objects.
void look(state& s) {
  for (;;) {
    std::this_thread::sleep_for(between_looks);
    const std::lock_guard guard(s.lock);
    advance_order(s, true);
    if (!s.order.empty()) continue;
    s.has_looker = false;
    return;
  }
}

template <class Outstanding>
void wait_while(state& s, Outstanding outstanding) {
  const auto began = std::chrono::steady_clock::now();
  const patience until_announced{s.settings.patience_s};
  bool announced = false;
  for (;;) {
    advance_order(s, false);
    if (!s.current) (void)s.present();  // another thread has reset it
    if (s.order.empty() || !outstanding()) return;
    if (!announced && std::chrono::steady_clock::now() - began > until_announced.duration() &&
        s.current) {
      announced = true;
      auto* const launches = s.current->extras().waiting;
      const std::string waiting = launches != nullptr ? launches->waiting_kernels() : "";
      if (waiting.empty() && s.order.waits_for_conditions())
        announce("the host has waited for " + until_announced.text() +
                 " for a stream that waits for a value in memory (cuStreamWaitValue); check that "
                 "another stream or host thread writes it");
      if (!waiting.empty())
        announce("the host has waited for " + until_announced.text() +
                 " for a kernel that is still running: " + waiting +
                 "; if it waits, check that another stream or host thread does what it waits for");
    }
    s.lock.unlock();
    std::this_thread::sleep_for(between_looks);
    s.lock.lock();
  }
}

const pid_t process_at_start = getpid();

// For programs that use only the driver API and therefore unregister no fat binary. A child of
// fork() has no kernels.
void name_running_at_exit(int, void*) {
  if (getpid() != process_at_start) return;
  state& s = state::get();
  const std::unique_lock guard(s.lock, std::try_to_lock);
  if (guard.owns_lock()) (void)s.name_running();
}

// Called after the destructors of the program's own objects, because these may wait for kernels.
__attribute__((constructor)) void watch_for_the_end() { on_exit(name_running_at_exit, nullptr); }

}  // namespace

state& state::get() {
  static state& only = *new state;
  return only;
}

status state::ready() { return fault.ok() ? present() : fault; }

status state::present() {
  if (!driver_call::function()) used_by_runtime = true;
  if (!current && unavailable.ok()) {
    auto made = make_process_device();
    if (made.ok()) {
      current = std::move(*made);
      if (auto* const launches = current->extras().waiting)
        launches->leave_waiting_launches(!checks && !recorder);
      if (recorder) recorder->begin(current->description());
      watch_host_accesses();
    } else {
      unavailable = made.failure();
      announce(unavailable.message);
    }
  }
  if (auto* const on = checking_device()) on->set_origin(checks->origin());
  return current ? status{} : unavailable;
}

status state::synchronize() {
  if (!fault.ok()) return fault;
  lose(current->synchronize());
  return fault;
}

void state::lose(status to) {
  const bool unreachable = std::any_of(host_allocations.begin(), host_allocations.end(),
                                       [](const auto& entry) { return !entry.second.reachable; });
  if (to.code == error::illegal_address && unreachable) {
    to.message += "; kernels cannot access all memory from cudaHostRegister; use cudaMallocHost";
  }
  fault = std::move(to);
  if (!fault.ok()) keep_failure(fault.message);
  if (checks && !fault.ok()) checks->fault_noted(static_cast<int>(fault.code), fault.message);
  announce(fault.message);
}

void state::advance() { advance_order(*this, false); }

void state::wait_for_stream(const stream_use& stream) {
  if (!order.empty()) wait_for_point(order.mark(stream));
}

void state::wait_for_point(std::uint64_t point) {
  if (!order.is_outstanding(point)) return;
  order.hurry(point);
  wait_while(*this, [&] { return order.is_outstanding(point); });
}

void state::wait_for_all() {
  order.hurry_all();
  if (!order.empty())
    wait_while(*this, [&, last = order.last()] { return order.is_outstanding_up_to(last); });
}

void state::delay_next(const stream_use& stream) {
  if (!delays_work || checks || recorder) return;
  if (order.size() >= most_delayed) {
    order.hurry_all();
    return advance();
  }
  order.hold(stream, stream_order::clock::now() + longest_delay);
  keep_looking();
}

void state::note_left(const stream_use& stream) {
  auto* const launches = current->extras().waiting;
  const std::uint64_t launch = launches != nullptr ? launches->left_launch() : 0;
  if (launch == 0) return;
  order.add_running(stream, launch);
  keep_looking();
}

void state::keep_looking() {
  if (has_looker) return;
  has_looker = true;
  std::thread([this] { look(*this); }).detach();
}

bool state::name_running() {
  auto* const launches = current ? current->extras().waiting : nullptr;
  if (order.empty() || launches == nullptr || !fault.ok()) return false;
  (void)launches->runs(0);  // makes the device note which launches have ended
  const std::string running = launches->running_kernels();
  if (running.empty()) return false;
  announce("the program ended without waiting for " + running +
           ", which was still running and was stopped, as on a GPU");
  return true;
}

status state::settle() {
  status outcome = synchronize();
  pools.settle();
  return outcome;
}

status state::note(const status& outcome) {
  if (is_fault(outcome.code) && fault.ok()) lose(outcome);
  return outcome;
}

void state::reset() {
  if (checks) lift_guard();
  release_graphs();
  if (checks) checks->finish(current.get(), fault.ok());
  keep_profile(current.get());
  for (event_record* event : events) delete event;
  for (stream_record* stream : streams) delete stream;
  events.clear();
  streams.clear();
  default_stream.attributes.clear();
  limits.clear();
  cache_config = 0;
  used_by_runtime = false;
  order.clear();
  registered.forget_device();
  unavailable = {};
  if (fault.ok()) {
    advice = {};
    pools.clear();
    textures.clear();
    host_allocations.clear();
    current.reset();
  } else {  // a lost device still answers queries
    fault = {error::devices_unavailable,
             "the device was lost after a kernel fault; restart the program"};
  }
}

const std::pair<const void* const, host_allocation>* state::find_host(const void* address) const {
  auto after = host_allocations.upper_bound(address);
  if (after == host_allocations.begin()) return nullptr;
  const auto& candidate = *--after;
  const auto offset = static_cast<const char*>(address) - static_cast<const char*>(candidate.first);
  return static_cast<std::size_t>(offset) < candidate.second.bytes ? &candidate : nullptr;
}

}  // namespace stepwise::runtime
