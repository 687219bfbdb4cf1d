// Allocates device memory, and frees it after waiting for the device. Rejects host memory.
#include "common/runtime/api/allocation.hpp"

#include "common/runtime/api/capturing.hpp"
#include "common/runtime/host/call_stacks.hpp"
#include "common/runtime/host/guarded_pages.hpp"

namespace stepwise::runtime {

void note_place(state& s) {
  if (s.checks || s.places_left == 0) return;
  s.places_left--;
  const std::uint64_t origin = number_of_stack(program_stack());
  if (auto* const checks = s.current->extras().checks) checks->set_origin(origin);
}

status refused(const status& failure) {
  // Many programs ignore the error code of an allocation.
  if (failure.code == error::memory_allocation) announce("out of memory: " + failure.message);
  return failure;
}

status allocate(state& s, void** address, std::size_t bytes) {
  if (!address) return invalid_value("cudaMalloc: the pointer for the address is null");
  *address = nullptr;
  if (bytes == 0) return {};
  note_place(s);
  const auto found = s.current->allocate(bytes);
  if (!found.ok()) return refused(found.failure());
  *address = pointer_of(*found);
  note_asked(s, asked::kind::allocate, nullptr);
  return {};
}

status release(state& s, void* address) {
  if (!address) return {};
  if (s.graphs) {
    if (const auto released = release_graph_memory(s, address)) return *released;
  }
  if (const auto* const host = s.find_host(address)) {
    if (s.checks) {
      s.checks->refused_free("cudaFree() was given host memory",
                             "cudaFreeHost frees memory from cudaMallocHost; cudaHostUnregister "
                             "releases memory from cudaHostRegister.",
                             host->second.bytes, host->second.allocated_by);
    }
    return invalid_value("cudaFree: this is host memory; use cudaFreeHost");
  }
  status before = s.synchronize();
  if (!before.ok()) return before;
  const auto area = s.current->find_allocation(address_of(address));
  if (s.checks) lift_guard();
  status freed = s.current->free(address_of(address));
  if (!freed.ok()) return freed;
  note_asked(s, asked::kind::host_all, nullptr);
  note_asked(s, asked::kind::release, nullptr);
  if (area && area->shared) s.advice.forget(area->address, area->bytes);
  s.pools.forget(address_of(address));
  return {};
}

}  // namespace stepwise::runtime
