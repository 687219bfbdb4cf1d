// Events as calls and nodes of graphs use them.
#pragma once

#include "common/runtime/api/api.hpp"

namespace stepwise::runtime {

// The event that a program names; null: there is none.
event_record* find_event(const state& s, cudaEvent_t event);

// Marks what a checked stream has been given up to now; makes a stream wait for a mark.
status record_event(state& s, event_record& event, cudaStream_t stream);
void wait_for_event(state& s, const event_record& event, cudaStream_t stream);

// The same for a device that checks, at once; nothing in a plain run.
void mark_for_checks(state& s, std::uint64_t event, const stream_use& in);
void wait_for_checks(state& s, std::uint64_t event, const stream_use& in);

}  // namespace stepwise::runtime
