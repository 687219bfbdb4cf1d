// The building blocks of exported functions.
//
// idea    Each function is a `call`: take the lock, ensure that there is a usable device, run the
//         body, and keep the error. No function throws into the program or terminates it.
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

// Exports the same function under the name that programs built with --default-stream per-thread
// call. For functions where the meaning of the null stream matters, use STEPWISE_OWN_STREAM.
#define STEPWISE_ALIAS(other_name, name) \
  STEPWISE_EXPORT __typeof__(name) other_name __attribute__((alias(#name)))

// Exports a function with the given parameter list, in which the null stream is per-thread.
#define STEPWISE_OWN_STREAM(other_name, name, parameters, ...) \
  STEPWISE_EXPORT cudaError_t other_name parameters {          \
    const own_stream_call here;                                \
    return name(__VA_ARGS__);                                  \
  }

namespace stepwise::runtime {

// While this object exists, the null stream in this thread's calls means the per-thread default
// stream.
struct own_stream_call {
  static inline thread_local bool made = false;
  own_stream_call() { made = true; }
  ~own_stream_call() { made = false; }
  own_stream_call(const own_stream_call&) = delete;
  own_stream_call& operator=(const own_stream_call&) = delete;
};

// A non-owning reference to the lambda that is an exported function's body. With it, the functions
// below need not be templates, so they are compiled only once.
template <class... What>
class body_ref {
 public:
  template <class Body>
  body_ref(const Body& body)
      : body_(&body), run_([](const void* body, What&... what) -> status {
          return (*static_cast<const Body*>(body))(what...);
        }) {}
  status operator()(What&... what) const { return run_(body_, what...); }

 private:
  const void* body_;
  status (*run_)(const void*, What&...);
};

// Runs `body(state&) -> status` under the lock. `at` supplies the name of the exported function.
cudaError_t call_without_device(body_ref<state> body,
                                std::source_location at = std::source_location::current()) noexcept;

// Like call_without_device(), but returns an error if there is no device or a kernel has failed.
cudaError_t call(body_ref<state> body,
                 std::source_location at = std::source_location::current()) noexcept;

// For queries about the device itself, which a lost device still answers, as a GPU does.
cudaError_t call_even_lost(body_ref<state> body,
                           std::source_location at = std::source_location::current()) noexcept;

// cudaErrorInvalidValue, with the reason for the message.
inline status invalid_value(std::string why) { return {error::invalid_value, std::move(why)}; }

// The error for callbacks, which a device in another process cannot make.
status no_callbacks(const char* function);

// invalid_resource_handle, unless the stream is 0, one of the two special handles, or created.
status check_stream(const state& s, cudaStream_t stream);

// The record of a stream that check_stream() accepted.
stream_record& record_of(state& s, cudaStream_t stream);

// Runs `body(state&, stream_record&)` for a stream that check_stream() accepts.
cudaError_t with_stream(cudaStream_t stream, body_ref<state, stream_record> body,
                        std::source_location at = std::source_location::current());

// The stream meant by a program that was built with --default-stream per-thread.
inline cudaStream_t per_thread(cudaStream_t stream) {
  return stream ? stream : cudaStreamPerThread;
}

// How a checking device identifies a stream that check_stream() accepted.
stream_use use_of(state& s, cudaStream_t stream);

// Notes for the timeline that the call made this request of a valid stream. No-ops in a plain run.
void note_asked(state& s, asked::kind what, cudaStream_t stream);
void note_asked(state& s, asked::kind what, cudaStream_t stream, asked more);
void note_event(state& s, asked::kind what, cudaStream_t stream, std::uint64_t event);

// Notifications for checking devices, no-ops in a plain run. In order: the next operation of the
// device belongs to this stream; the host has waited for the stream; the host has waited for all
// work; the host may know of the stream's work, because a host function runs in that stream.
void enter_stream(state& s, cudaStream_t stream);
void host_waited(state& s, cudaStream_t stream);
void host_waited_for_all(state& s);
void host_may_know(state& s, cudaStream_t stream);

// Called before must_wait() for asynchronous work, which STEPWISE_LATE may delay.
inline void may_delay(state& s, cudaStream_t stream) {
  if (s.delays_work) s.delay_next(use_of(s, stream));
}
// Whether work in a valid stream is delayed or has to wait for kernels that were left running.
inline bool must_wait(state& s, cudaStream_t stream) {
  return !s.order.empty() && s.order.must_wait(use_of(s, stream));
}
// Defers work in a valid stream until all earlier work has ended. The work is called with the lock
// held. A checking device attributes the work to this stream and this call.
void keep(state& s, cudaStream_t stream, stream_order::work work);
// Defers one of the program's functions, which is called without the lock.
void call_in_stream_order(state& s, cudaStream_t stream, std::function<void()> function);
// Runs the work now and returns its status, unless the work has to wait.
template <class Work>
status in_order(state& s, cudaStream_t stream, Work&& work) {
  if (!must_wait(s, stream)) return work();
  keep(s, stream, std::forward<Work>(work));
  return {};
}
// The status of a query of unfinished work. It is not an error, so there is no message.
inline status not_ready() { return {error::not_ready, ""}; }

// The numeric value of an enumeration that a program passed. C allows any number, but in C++,
// reading a number outside the enumeration's range would be undefined behaviour.
template <class Enum>
int number_of(const Enum& passed) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number;
  std::memcpy(&number, &passed, sizeof number);
  return number;
}

// Conversions between the program's pointers and device addresses.
inline device_address address_of(const void* pointer) {
  return reinterpret_cast<device_address>(pointer);
}

inline void* pointer_of(device_address address) { return reinterpret_cast<void*>(address); }

}  // namespace stepwise::runtime
