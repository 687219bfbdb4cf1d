// The common parts of exported functions (api.hpp, batch.hpp): locking and errors, notifications
// for the checks and the timeline, and argument checks.
//
// tests   ../tests/launch_test.cpp, ../tests/errors_test.cpp, ../tests/copy_test.cpp
#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "common/runtime/api/batch.hpp"
#include "common/runtime/host/guarded_pages.hpp"
#include "common/runtime/host/imports.hpp"
#include "common/runtime/host_access.hpp"

namespace stepwise::runtime {
namespace {

// The bit that marks the number of a per-thread default stream.
constexpr std::uint64_t stream_of_thread = std::uint64_t{1} << 32;

}  // namespace

cudaError_t call_without_device(body_ref<state> body, std::source_location at) noexcept {
  try {
    state& s = state::get();
    const std::lock_guard guard(s.lock);
    if (!s.order.empty()) s.advance();
    if (!s.checks && !s.recorder) return static_cast<cudaError_t>(finish(body(s)));
    const char* const driver_function = driver_call::function();
    const char* const function = driver_function ? driver_function : at.function_name();
    if (s.recorder) s.recorder->begin_call(function);
    call_checks::watched_call watched;
    if (s.checks) {
      pause_guard();
      watched = s.checks->begin_call(function);
    }
    const status outcome = body(s);
    const int code = finish(outcome);
    if (s.checks) {
      s.checks->end_call(watched, s.current.get(), outcome);
      guard_unfinished_memory(s);
    }
    if (s.recorder) s.recorder->end_call();
    return static_cast<cudaError_t>(code);
  } catch (const std::bad_alloc&) {
    return static_cast<cudaError_t>(finish({error::memory_allocation, ""}));
  } catch (...) {
    return static_cast<cudaError_t>(finish({error::unknown, ""}));
  }
}

cudaError_t call(body_ref<state> body, std::source_location at) noexcept {
  return call_without_device(
      [&](state& s) {
        status ready = s.ready();
        return ready.ok() ? s.note(body(s)) : ready;
      },
      at);
}

cudaError_t call_even_lost(body_ref<state> body, std::source_location at) noexcept {
  return call_without_device(
      [&](state& s) {
        status present = s.present();
        return present.ok() ? body(s) : present;
      },
      at);
}

status no_callbacks(const char* function) {
  return {error::not_supported, std::string(function) +
                                    ": not possible in a graded call, because the device is in "
                                    "another process and cannot call functions of this one"};
}

status check_stream(const state& s, cudaStream_t stream) {
  if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
      s.streams.count(reinterpret_cast<stream_record*>(stream))) {
    return {};
  }
  return {error::invalid_resource_handle, "there is no such stream"};
}

stream_record& record_of(state& s, cudaStream_t stream) {
  auto* const record = reinterpret_cast<stream_record*>(stream);
  return s.streams.count(record) ? *record : s.default_stream;
}

cudaError_t with_stream(cudaStream_t stream, body_ref<state, stream_record> body,
                        std::source_location at) {
  return call(
      [&](state& s) {
        status known = check_stream(s, stream);
        return known.ok() ? body(s, record_of(s, stream)) : known;
      },
      at);
}

stream_use use_of(state& s, cudaStream_t stream) {
  if (s.lane) return *s.lane;
  if (stream == cudaStreamPerThread || (!stream && own_stream_call::made))
    return {stream_of_thread | thread_number(), false};
  if (!stream || stream == cudaStreamLegacy) return {};
  const stream_record& record = record_of(s, stream);
  return {record.id, (record.flags & cudaStreamNonBlocking) != 0};
}

void keep(state& s, cudaStream_t stream, stream_order::work work) {
  const stream_use use = use_of(s, stream);
  if (!s.checks) return s.order.add(use, std::move(work));
  s.order.add(use, [&s, use, origin = s.checks->origin(), work = std::move(work)] {
    const stream_use* const lane = std::exchange(s.lane, &use);
    if (auto* const on = s.checking_device()) {
      on->set_origin(origin);
      on->set_stream(use);
    }
    status outcome = work();
    s.lane = lane;
    if (auto* const on = s.checking_device()) on->set_origin(s.checks->origin());
    return outcome;
  });
}

void note_asked(state& s, asked::kind what, cudaStream_t stream) {
  if (s.recorder) note_asked(s, what, stream, {});
}

void note_asked(state& s, asked::kind what, cudaStream_t stream, asked more) {
  if (!s.recorder) return;
  const stream_use use = use_of(s, stream);
  more.what = what;
  more.stream = use.stream;
  more.non_blocking = use.non_blocking;
  s.recorder->add(std::move(more));
}

void note_event(state& s, asked::kind what, cudaStream_t stream, std::uint64_t event) {
  if (!s.recorder) return;
  asked more;
  more.event = event;
  note_asked(s, what, stream, std::move(more));
}

namespace {

// Whether `use` is the legacy default stream and no work of another stream, now or later, can run
// at the same time. Blocking streams and the legacy stream wait for each other, but non-blocking
// streams do not take part.
bool is_alone(const state& s, const stream_use& use) {
  return !s.lane && use.stream == 0 &&
         std::ranges::all_of(s.streams,
                             [](const stream_record* other) {
                               return (other->flags & cudaStreamNonBlocking) == 0;
                             }) &&
         !may_create_non_blocking_streams();
}

}  // namespace

void enter_stream(state& s, cudaStream_t stream) {
  auto* const on = s.checking_device();
  if (on == nullptr) return;
  stream_use use = use_of(s, stream);
  use.is_alone = is_alone(s, use);
  on->set_stream(use);
}

void host_waited(state& s, cudaStream_t stream) {
  if (auto* const on = s.checking_device()) {
    enter_stream(s, stream);
    on->host_waited(use_of(s, stream).stream);
  }
  note_asked(s, asked::kind::host_stream, stream);
}

void host_may_know(state& s, cudaStream_t stream) {
  if (!s.checks) return;
  enter_stream(s, stream);
  if (auto* const on = s.current->extras().host_accesses)
    on->host_may_know(use_of(s, stream).stream);
}

void call_in_stream_order(state& s, cudaStream_t stream, std::function<void()> function) {
  if (s.checks) keep(s, stream, [&s, stream] { return host_may_know(s, stream), status{}; });
  s.order.add(
      use_of(s, stream), [function = std::move(function)] { return function(), status{}; }, true);
}

void host_waited_for_all(state& s) {
  if (auto* const on = s.checking_device()) on->host_waited(no_stream);
  note_asked(s, asked::kind::host_all, nullptr);
}

status check_batch_stream(const state& s, cudaStream_t stream, bool per_thread) {
  if (stream == cudaStreamLegacy || (!stream && !per_thread)) {
    return invalid_value("a batch cannot run in the legacy default stream: create a stream");
  }
  return check_stream(s, stream);
}

status check_batch_entries(const char* function, std::size_t count, const void* entries,
                           const std::size_t* starts, std::size_t entry_count) {
  const std::string who = std::string(function) + ": ";
  if (count == 0) return invalid_value(who + "no operations");
  if (!entries || !starts || entry_count == 0 || entry_count > count) {
    return invalid_value(who + "no attributes, or more attributes than operations");
  }
  // adjacent_find finds a start that is not below the next one.
  const bool rises = std::adjacent_find(starts, starts + entry_count, std::greater_equal<>()) ==
                     starts + entry_count;
  if (starts[0] != 0 || !rises || starts[entry_count - 1] >= count) {
    return invalid_value(who + "the indices must rise from 0 and stay below the count");
  }
  return {};
}

}  // namespace stepwise::runtime
