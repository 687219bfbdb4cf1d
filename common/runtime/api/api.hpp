// How an exported function is written.
//
// idea    Each is a `call`: lock, have a usable device, do it, keep the error. Nothing throws into
//         the program, and nothing ends it.
#pragma once

// Everything that the toolkit's header declares is exported; the rest of the library is hidden.
#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

#include <cstring>
#include <new>
#include <source_location>

#include "common/runtime/errors.hpp"
#include "common/runtime/state.hpp"

#define STEPWISE_EXPORT extern "C" __attribute__((visibility("default")))

// The same function under the name that programs built with --default-stream per-thread call. All
// streams of ours run in order and at once, so the two agree.
#define STEPWISE_ALIAS(other_name, name) \
  STEPWISE_EXPORT __typeof__(name) other_name __attribute__((alias(#name)))

namespace stepwise::runtime {

// Does `body(state&) -> status` under the lock. `at`: the exported function, for its name.
template <class Body>
cudaError_t call_without_device(
    Body&& body, std::source_location at = std::source_location::current()) noexcept {
  try {
    state& s = state::get();
    const std::lock_guard guard(s.lock);
    if (!s.checks && !s.recorder) return static_cast<cudaError_t>(finish(body(s)));
    const char* const driver_function = driver_call::function();
    if (s.recorder) s.recorder->begin_call(driver_function ? driver_function : at.function_name());
    if (s.checks) s.checks->begin_call();
    const int code = finish(body(s));
    if (s.checks) s.checks->end_call(s.current.get(), code);
    if (s.recorder) s.recorder->end_call();
    return static_cast<cudaError_t>(code);
  } catch (const std::bad_alloc&) {
    return static_cast<cudaError_t>(finish({error::memory_allocation, ""}));
  } catch (...) {
    return static_cast<cudaError_t>(finish({error::unknown, ""}));
  }
}

// The same, once there is a device and no kernel has failed: else that is the answer.
template <class Body>
cudaError_t call(Body&& body, std::source_location at = std::source_location::current()) noexcept {
  return call_without_device(
      [&](state& s) {
        status ready = s.ready();
        return ready.ok() ? s.note(body(s)) : ready;
      },
      at);
}

// For questions that a lost device still answers, as a GPU's does: those about the device itself.
template <class Body>
cudaError_t call_even_lost(Body&& body,
                           std::source_location at = std::source_location::current()) noexcept {
  return call_without_device(
      [&](state& s) {
        status present = s.present();
        return present.ok() ? body(s) : present;
      },
      at);
}

// cudaErrorInvalidValue, with the reason for the message.
inline status invalid_value(std::string why) { return {error::invalid_value, std::move(why)}; }

// What a device in another process cannot do.
inline status no_callbacks(const char* function) {
  return {error::not_supported, std::string(function) +
                                    ": the device is in another process (a graded call), which "
                                    "calls no function of this one"};
}

// A stream that the program may name: 0, the two special ones, or one that it created.
inline status check_stream(const state& s, cudaStream_t stream) {
  if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
      s.streams.count(reinterpret_cast<stream_record*>(stream))) {
    return {};
  }
  return {error::invalid_resource_handle, "there is no such stream"};
}

// A checked stream's record.
inline stream_record& record_of(state& s, cudaStream_t stream) {
  auto* const record = reinterpret_cast<stream_record*>(stream);
  return s.streams.count(record) ? *record : s.default_stream;
}

// Does `body(state&, stream_record&)` for a stream that may be named.
template <class Body>
cudaError_t with_stream(cudaStream_t stream, Body&& body,
                        std::source_location at = std::source_location::current()) {
  return call(
      [&](state& s) {
        status known = check_stream(s, stream);
        return known.ok() ? body(s, record_of(s, stream)) : known;
      },
      at);
}

// The stream that a program built with --default-stream per-thread means.
inline cudaStream_t per_thread(cudaStream_t stream) {
  return stream ? stream : cudaStreamPerThread;
}

// How a device that checks knows a checked stream.
inline stream_use use_of(state& s, cudaStream_t stream) {
  if (s.lane) return *s.lane;
  if (stream == cudaStreamPerThread) return {std::uint64_t{1} << 32 | thread_number(), false};
  if (!stream || stream == cudaStreamLegacy) return {};
  const stream_record& record = record_of(s, stream);
  return {record.id, (record.flags & cudaStreamNonBlocking) != 0};
}

// For the timeline; nothing in a plain run. The call asked a checked stream for this.
inline void note_asked(state& s, asked::kind what, cudaStream_t stream, asked more = {}) {
  if (!s.recorder) return;
  const stream_use use = use_of(s, stream);
  more.what = what;
  more.stream = use.stream;
  more.non_blocking = use.non_blocking;
  s.recorder->add(std::move(more));
}
inline void note_event(state& s, asked::kind what, cudaStream_t stream, std::uint64_t event) {
  if (!s.recorder) return;
  asked more;
  more.event = event;
  note_asked(s, what, stream, std::move(more));
}

// For devices that check; nothing in a plain run. What the device does next belongs to a checked
// stream; the host has waited for one, or for all work.
inline void enter_stream(state& s, cudaStream_t stream) {
  if (s.checks) s.current->set_stream(use_of(s, stream));
}
inline void host_waited(state& s, cudaStream_t stream) {
  if (s.checks) s.current->host_waited(use_of(s, stream).stream);
  note_asked(s, asked::kind::host_stream, stream);
}
inline void host_waited_for_all(state& s) {
  if (s.checks) s.current->host_waited(no_stream);
  note_asked(s, asked::kind::host_all, nullptr);
}

// The number of an enumeration that a program passed. C lets it pass any number; reading one
// that the enumeration does not have would be undefined here.
template <class Enum>
int number_of(const Enum& passed) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number;
  std::memcpy(&number, &passed, sizeof number);
  return number;
}

// A pointer of the program's as an address of the device, and back.
inline device_address address_of(const void* pointer) {
  return reinterpret_cast<device_address>(pointer);
}

inline void* pointer_of(device_address address) { return reinterpret_cast<void*>(address); }

}  // namespace stepwise::runtime
