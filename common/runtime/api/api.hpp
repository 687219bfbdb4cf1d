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

// The same function under the name that programs built with --default-stream per-thread call, where
// it does not matter which stream the null stream is, or rarely: STEPWISE_OWN_STREAM.
#define STEPWISE_ALIAS(other_name, name) \
  STEPWISE_EXPORT __typeof__(name) other_name __attribute__((alias(#name)))

// The same where it does: an exported function of the signature in parentheses.
#define STEPWISE_OWN_STREAM(other_name, name, parameters, ...) \
  STEPWISE_EXPORT cudaError_t other_name parameters {          \
    const own_stream_call here;                                \
    return name(__VA_ARGS__);                                  \
  }

namespace stepwise::runtime {

// While it exists, the null stream of this thread's calls is that of the thread.
struct own_stream_call {
  static inline thread_local bool made = false;
  own_stream_call() { made = true; }
  ~own_stream_call() { made = false; }
  own_stream_call(const own_stream_call&) = delete;
  own_stream_call& operator=(const own_stream_call&) = delete;
};

// What an exported function does, for the time of the call: a reference to a lambda. The functions
// below are compiled once, not for each that is exported.
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

// Does `body(state&) -> status` under the lock. `at`: the exported function, for its name.
cudaError_t call_without_device(body_ref<state> body,
                                std::source_location at = std::source_location::current()) noexcept;

// The same, once there is a device and no kernel has failed: else that is the answer.
cudaError_t call(body_ref<state> body,
                 std::source_location at = std::source_location::current()) noexcept;

// For questions that a lost device still answers, as a GPU's does: those about the device itself.
cudaError_t call_even_lost(body_ref<state> body,
                           std::source_location at = std::source_location::current()) noexcept;

// cudaErrorInvalidValue, with the reason for the message.
inline status invalid_value(std::string why) { return {error::invalid_value, std::move(why)}; }

// What a device in another process cannot do.
status no_callbacks(const char* function);

// A stream that the program may name: 0, the two special ones, or one that it created.
status check_stream(const state& s, cudaStream_t stream);

// A checked stream's record.
stream_record& record_of(state& s, cudaStream_t stream);

// Does `body(state&, stream_record&)` for a stream that may be named.
cudaError_t with_stream(cudaStream_t stream, body_ref<state, stream_record> body,
                        std::source_location at = std::source_location::current());

// The stream that a program built with --default-stream per-thread means.
inline cudaStream_t per_thread(cudaStream_t stream) {
  return stream ? stream : cudaStreamPerThread;
}

// How a device that checks knows a checked stream.
stream_use use_of(state& s, cudaStream_t stream);

// For the timeline; nothing in a plain run. The call asked a checked stream for this.
void note_asked(state& s, asked::kind what, cudaStream_t stream);
void note_asked(state& s, asked::kind what, cudaStream_t stream, asked more);
void note_event(state& s, asked::kind what, cudaStream_t stream, std::uint64_t event);

// For devices that check; these do nothing in a plain run. In order: the device's next operation
// belongs to a checked stream; the host has waited for a stream; the host has waited for all work;
// the host may know of the stream's work, since one of the program's functions runs there.
void enter_stream(state& s, cudaStream_t stream);
void host_waited(state& s, cudaStream_t stream);
void host_waited_for_all(state& s);
void host_may_know(state& s, cudaStream_t stream);

// Called before must_wait() for asynchronous work, which STEPWISE_LATE may delay.
inline void may_delay(state& s, cudaStream_t stream) {
  if (s.delays_work) s.delay_next(use_of(s, stream));
}
// Whether work of a checked stream is delayed or has to wait for kernels that were left running.
inline bool must_wait(state& s, cudaStream_t stream) {
  return !s.order.empty() && s.order.must_wait(use_of(s, stream));
}
// Keeps work of a checked stream until what comes before it has ended. It is called with the lock
// held. To a device that checks it belongs to this stream and this call.
void keep(state& s, cudaStream_t stream, stream_order::work work);
// The same for one of the program's functions, which is called without the lock.
void call_in_turn(state& s, cudaStream_t stream, std::function<void()> function);
// Does it now if it does not have to wait, and answers as the call does.
template <class Work>
status in_order(state& s, cudaStream_t stream, Work&& work) {
  if (!must_wait(s, stream)) return work();
  keep(s, stream, std::forward<Work>(work));
  return {};
}
// What a query answers while it must wait. That is no mistake, so there is no message.
inline status not_ready() { return {error::not_ready, ""}; }

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
