// Streams and events. Work usually runs in the order of the calls, so a stream is mostly a name.
#include <algorithm>

#include "common/runtime/api/capturing.hpp"
#include "common/runtime/api/events.hpp"
#include "common/runtime/event_times.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

constexpr int lowest_priority = 0, highest_priority = -5;

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&](state& s) {
    if (!stream) return invalid_value("cudaStreamCreate: the pointer for the stream is null");
    if (flags & ~cudaStreamNonBlocking) return invalid_value("cudaStreamCreate: unknown flags");
    const int kept = std::clamp(priority, highest_priority, lowest_priority);
    auto* const record = new stream_record{flags, kept, ++s.streams_made + 2, {}};
    s.streams.insert(record);
    *stream = reinterpret_cast<cudaStream_t>(record);
    // From now on, copies in the default stream may race with work that does not wait for it.
    if (flags != 0) enter_stream(s, *stream);
    return status{};
  });
}

cudaError_t answer_of_stream(cudaStream_t stream, const void* place,
                             void (*answer)(const stream_record&, void*)) {
  return with_stream(stream, [&](state&, const stream_record& record) {
    if (!place) return invalid_value("the output pointer is null");
    answer(record, const_cast<void*>(place));
    return status{};
  });
}

// How a checking device identifies an event.
std::uint64_t event_number(const event_record& record) {
  return static_cast<std::uint64_t>(record.handle);
}

void host_waited_for(state& s, const event_record& record) {
  if (!record.recorded) return;
  if (auto* const on = s.checking_device()) on->host_waited_for_event(event_number(record));
  note_event(s, asked::kind::host_event, nullptr, event_number(record));
}

status unknown_event() { return {error::invalid_resource_handle, "there is no such event"}; }

cudaError_t record_call(cudaEvent_t event, cudaStream_t stream, unsigned flags,
                        std::source_location at = std::source_location::current()) {
  return with_stream(
      stream,
      [&](state& s, const stream_record&) {
        event_record* const record = find_event(s, event);
        if (!record) return unknown_event();
        if (s.graphs) {
          const bool external = flags & cudaEventRecordExternal;
          if (const auto captured = capture_record(s, event, stream, external)) return *captured;
        }
        return record_event(s, *record, stream);
      },
      at);
}

}  // namespace

void stepwise::runtime::mark_for_checks(state& s, std::uint64_t event, const stream_use& in) {
  auto* const on = s.checking_device();
  if (on == nullptr) return;
  on->set_stream(in);
  on->mark_event(event, in.stream);
}

void stepwise::runtime::wait_for_checks(state& s, std::uint64_t event, const stream_use& in) {
  auto* const on = s.checking_device();
  if (on == nullptr) return;
  on->set_stream(in);
  on->wait_event(event, in.stream);
}

event_record* stepwise::runtime::find_event(const state& s, cudaEvent_t event) {
  auto* const record = reinterpret_cast<event_record*>(event);
  return s.events.count(record) ? record : nullptr;
}

status stepwise::runtime::record_event(state& s, event_record& event, cudaStream_t stream) {
  const stream_use use = use_of(s, stream);
  const std::uint64_t number = event_number(event);
  event.recorded = true;
  note_event(s, asked::kind::record, stream, number);
  event.point = 0;
  if (must_wait(s, stream)) {
    event.point = s.order.mark(use, [&s, handle = event.handle, number, use] {
      mark_for_checks(s, number, use);
      return (void)s.current->record(handle), status{};  // the event may be destroyed by then
    });
    return {};
  }
  mark_for_checks(s, number, use);
  return s.current->record(event.handle);
}

// Work recorded in the event either has run or is outstanding in `order`.
void stepwise::runtime::wait_for_event(state& s, const event_record& event, cudaStream_t stream) {
  if (!event.recorded) return;
  const stream_use use = use_of(s, stream);
  const std::uint64_t number = event_number(event);
  note_event(s, asked::kind::wait_event, stream, number);
  if (!s.order.is_outstanding(event.point)) return wait_for_checks(s, number, use);
  s.order.wait(use, event.point,
               [&s, number, use] { return wait_for_checks(s, number, use), status{}; });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return create_stream(stream, 0, 0); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return create_stream(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create_stream(stream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&](state& s) {
    auto* const record = reinterpret_cast<stream_record*>(stream);
    if (s.captures != 0) {
      if (status can = check_stream_can_go(s, stream); !can.ok()) return can;
    }
    if (s.streams.erase(record) == 0) {
      return status{error::invalid_resource_handle, "there is no such stream"};
    }
    delete record;
    return s.synchronize();
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return with_stream(stream, [&](state& s, const stream_record&) {
    if (status now = check_not_captured(s, stream); !now.ok()) return now;
    s.wait_for_stream(use_of(s, stream));
    host_waited(s, stream);
    return s.settle();
  });
}
STEPWISE_EXPORT cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
  return cudaStreamSynchronize(per_thread(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return with_stream(stream, [&](state& s, const stream_record&) {
    if (status now = check_not_captured(s, stream); !now.ok()) return now;
    if (must_wait(s, stream)) {
      s.order.hurry(use_of(s, stream));  // it may be done at the next query
      return not_ready();
    }
    host_waited(s, stream);  // the query reports completion
    return s.synchronize();
  });
}
STEPWISE_OWN_STREAM(cudaStreamQuery_ptsz, cudaStreamQuery, (cudaStream_t stream), stream)

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return with_stream(stream, [&](state& s, const stream_record&) {
    const event_record* const record = find_event(s, event);
    if (!record) return unknown_event();
    if (flags & ~cudaEventWaitExternal) return invalid_value("cudaStreamWaitEvent: unknown flags");
    if (s.graphs) {
      const bool external = flags & cudaEventWaitExternal;
      if (const auto captured = capture_wait(s, event, stream, external)) return *captured;
    }
    wait_for_event(s, *record, stream);
    return status{};
  });
}
STEPWISE_EXPORT cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event,
                                                     unsigned flags) {
  return cudaStreamWaitEvent(per_thread(stream), event, flags);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return answer_of_stream(stream, flags, [](const stream_record& record, void* place) {
    *static_cast<unsigned*>(place) = record.flags;
  });
}
STEPWISE_ALIAS(cudaStreamGetFlags_ptsz, cudaStreamGetFlags);

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return answer_of_stream(stream, priority, [](const stream_record& record, void* place) {
    *static_cast<int*>(place) = record.priority;
  });
}
STEPWISE_ALIAS(cudaStreamGetPriority_ptsz, cudaStreamGetPriority);

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return answer_of_stream(stream, id, [](const stream_record& record, void* place) {
    *static_cast<unsigned long long*>(place) = record.id;
  });
}
STEPWISE_ALIAS(cudaStreamGetId_ptsz, cudaStreamGetId);

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device_number) {
  return answer_of_stream(stream, device_number,
                          [](const stream_record&, void* place) { *static_cast<int*>(place) = 0; });
}
STEPWISE_ALIAS(cudaStreamGetDevice_ptsz, cudaStreamGetDevice);

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data,
                                  unsigned flags) {
  bool is_kept = false;  // deferred until earlier work is done
  const cudaError_t outcome = with_stream(stream, [&](state& s, const stream_record&) {
    if (!function || flags) return invalid_value("cudaStreamAddCallback: no function, or flags");
    if (status now = check_not_captured(s, stream); !now.ok()) return now;
    if (s.current->is_remote()) return no_callbacks("cudaStreamAddCallback");
    may_delay(s, stream);
    if (must_wait(s, stream)) {
      is_kept = true;
      call_in_stream_order(s, stream, [=] { function(stream, cudaSuccess, data); });
      return status{};
    }
    host_may_know(s, stream);
    return s.synchronize();
  });
  // Called without the lock, because the function may run for a long time.
  if (outcome == cudaSuccess && !is_kept) function(stream, outcome, data);
  return outcome;
}
STEPWISE_OWN_STREAM(cudaStreamAddCallback_ptsz, cudaStreamAddCallback,
                    (cudaStream_t stream, cudaStreamCallback_t function, void* data,
                     unsigned flags),
                    stream, function, data, flags)

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](state&) {
    if (least) *least = lowest_priority;
    if (greatest) *greatest = highest_priority;
    return status{};
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&](state& s) {
    if (!event) return invalid_value("cudaEventCreate: the pointer for the event is null");
    constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming;
    if (flags & cudaEventInterprocess) {
      return status{error::not_supported, "events between processes are not supported"};
    }
    if (flags & ~known) return invalid_value("cudaEventCreate: unknown flags");
    const auto handle = s.current->create_event();
    if (!handle.ok()) return handle.failure();
    auto* const record = new event_record{*handle, flags, false};
    s.events.insert(record);
    *event = reinterpret_cast<cudaEvent_t>(record);
    return status{};
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&](state& s) {
    event_record* const record = find_event(s, event);
    if (!record) return unknown_event();
    forget_captured_event(s, event);
    status outcome = s.current->destroy_event(record->handle);
    s.events.erase(record);
    delete record;
    return outcome;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return record_call(event, stream, 0);
}
STEPWISE_EXPORT cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecord(event, per_thread(stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return record_call(event, stream, flags);
}
STEPWISE_OWN_STREAM(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags,
                    (cudaEvent_t event, cudaStream_t stream, unsigned flags), event, stream, flags)

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&](state& s) {
    const event_record* const record = find_event(s, event);
    if (!record) return unknown_event();
    if (status now = check_event_not_captured(s, event); !now.ok()) return now;
    s.wait_for_point(record->point);
    if (find_event(s, event) == record) host_waited_for(s, *record);
    return s.settle();
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&](state& s) {
    const event_record* const record = find_event(s, event);
    if (!record) return unknown_event();
    if (status now = check_event_not_captured(s, event); !now.ok()) return now;
    if (s.order.is_outstanding(record->point)) {
      s.order.hurry(record->point);
      return not_ready();
    }
    host_waited_for(s, *record);  // the query reports completion
    return s.synchronize();
  });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop) {
  return call([&](state& s) {
    if (!ms) return invalid_value("cudaEventElapsedTime: the output pointer is null");
    const event_record *first = find_event(s, start), *second = find_event(s, stop);
    if (!first || !second) return unknown_event();
    for (const cudaEvent_t event : {start, stop})
      if (status now = check_event_not_captured(s, event); !now.ok()) return now;
    for (const event_record* record : {first, second}) {
      if (!record->recorded || (record->flags & cudaEventDisableTiming)) {
        return status{error::invalid_resource_handle,
                      record->recorded ? "an event made with cudaEventDisableTiming has no time"
                                       : "an event that was never recorded has no time"};
      }
    }
    if (s.order.is_outstanding(first->point) || s.order.is_outstanding(second->point))
      return not_ready();
    // Both events have completed; otherwise the call would return cudaErrorNotReady.
    if (auto* const on = s.checking_device())
      for (const event_record* record : {first, second})
        on->host_waited_for_event(event_number(*record));
    status before = s.synchronize();
    if (!before.ok()) return before;
    note_elapsed_time(s.current->description().name, s.recorder ? s.recorder->untimed() : 0);
    if (s.recorder) {
      const auto modelled = s.recorder->elapsed_ms(event_number(*first), event_number(*second));
      if (modelled) *ms = *modelled;
      if (modelled) return status{};
    }
    const auto found = s.current->elapsed_ms(first->handle, second->handle);
    if (found.ok()) *ms = *found;
    return found.ok() ? status{} : found.failure();
  });
}
