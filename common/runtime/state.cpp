// Makes, waits for and gives up the device, and remembers the fault that lost it.
#include "common/runtime/state.hpp"

#include <algorithm>
#include <cstdlib>

#include "common/runtime/errors.hpp"
#include "common/runtime/host_access.hpp"
#include "common/runtime/profile_output.hpp"

namespace stepwise::runtime {

bool is_fault(error code) {
  switch (code) {
    case error::illegal_address:
    case error::launch_timeout:
    case error::assert_triggered:
    case error::hardware_stack_error:
    case error::illegal_instruction:
    case error::misaligned_address:
    case error::invalid_address_space:
    case error::launch_failure:
      return true;
    default:
      return false;
  }
}

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
      if (recorder) recorder->begin(current->description());
      watch_host_accesses();
    } else {
      unavailable = made.failure();
      announce(unavailable.message);
    }
  }
  if (checks && current) current->set_origin(checks->origin());
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
    to.message +=
        "; kernels do not reach all memory from cudaHostRegister, but that from cudaMallocHost";
  }
  fault = std::move(to);
  if (!fault.ok()) keep_failure(fault.message);
  if (checks && !fault.ok()) checks->fault_noted(static_cast<int>(fault.code), fault.message);
  announce(fault.message);
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
  registered.forget_device();
  unavailable = {};
  if (fault.ok()) {
    advice = {};
    pools.clear();
    textures.clear();
    host_allocations.clear();
    current.reset();
  } else {  // it still describes itself
    fault = {error::devices_unavailable,
             "the device was lost to a kernel's fault; start the program again"};
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
