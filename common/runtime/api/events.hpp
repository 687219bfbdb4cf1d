// Events, for API calls and graph nodes.
#pragma once

#include "common/runtime/api/api.hpp"

namespace stepwise::runtime {

// The event with this handle, or null.
event_record* find_event(const state& s, cudaEvent_t event);

// Records an event after all work submitted to a valid stream; makes a stream wait for an event.
status record_event(state& s, event_record& event, cudaStream_t stream);
void wait_for_event(state& s, const event_record& event, cudaStream_t stream);

// Report the same operations to a checking device at once. No-ops in a plain run.
void mark_for_checks(state& s, std::uint64_t event, const stream_use& in);
void wait_for_checks(state& s, std::uint64_t event, const stream_use& in);

}  // namespace stepwise::runtime
