// Events as calls and nodes of graphs use them.
#pragma once

#include "common/runtime/api/api.hpp"

namespace stepwise::runtime {

// The event that a program names; null: there is none.
event_record* find_event(const state& s, cudaEvent_t event);

// Marks what a checked stream has been given up to now; makes a stream wait for a mark.
status record_event(state& s, event_record& event, cudaStream_t stream);
void wait_for_event(state& s, const event_record& event, cudaStream_t stream);

}  // namespace stepwise::runtime
