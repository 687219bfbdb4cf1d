// Device memory and pinned host memory.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "common/runtime/api/allocation.hpp"
#include "common/runtime/api/capturing.hpp"
#include "common/runtime/host/guarded_pages.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

// Rows of pitched memory start at multiples of this many bytes (texture alignment), as on hardware.
constexpr std::size_t pitch_alignment = 512;

std::size_t in_pitch(std::size_t width) {
  return (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
}

// Kernels access pinned memory through its host address (unified addressing).
status allocate_host(state& s, void** address, std::size_t bytes, unsigned flags) {
  if (!address) return invalid_value("cudaMallocHost: the pointer for the address is null");
  if (flags & ~(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined)) {
    return invalid_value("cudaHostAlloc: unknown flags");
  }
  *address = nullptr;
  if (bytes == 0) return {};
  if (status safe = safe_now(s); !safe.ok()) return safe;
  note_place(s);
  // Ordinary memory suffices for copies, which are the purpose of most pinned memory.
  if (s.current->is_remote() && !(flags & cudaHostAllocMapped)) {
    *address = bytes > PTRDIFF_MAX ? nullptr : std::malloc(bytes);
    if (!*address) return refused({error::memory_allocation, "cudaMallocHost: out of memory"});
    s.host_allocations[*address] = {bytes, flags, false, false, s.checks ? s.checks->origin() : 0,
                                    true};
    return {};
  }
  const auto found = s.current->allocate_shared(bytes);
  if (!found.ok()) return refused(found.failure());
  *address = pointer_of(*found);
  s.host_allocations[*address] = {bytes, flags, false, true, s.checks ? s.checks->origin() : 0};
  return {};
}

status too_many_bytes(const char* function) {
  return refused(
      {error::memory_allocation, std::string(function) + ": more bytes than are available"});
}

status not_pinned(const char* function) {
  return invalid_value(std::string(function) +
                       ": this is not memory from cudaMallocHost or cudaHostAlloc");
}

}  // namespace

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  return call_even_lost([&](state& s) {
    if (!address) return invalid_value("cudaMalloc: the pointer for the address is null");
    status usable = s.ready();
    if (usable.ok()) usable = safe_now(s);
    return usable.ok() ? s.note(allocate(s, address, bytes)) : usable;
  });
}

cudaError_t cudaMallocPitch(void** address, std::size_t* pitch, std::size_t width,
                            std::size_t rows) {
  return call([&](state& s) {
    if (status safe = safe_now(s); !safe.ok()) return safe;
    if (!address || !pitch) return invalid_value("cudaMallocPitch: the output pointer is null");
    if (width > SIZE_MAX / 2 || (rows && width > SIZE_MAX / 2 / rows)) {
      return too_many_bytes("cudaMallocPitch");
    }
    *pitch = in_pitch(width);
    return allocate(s, address, *pitch * rows);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
  return call([&](state& s) {
    if (status safe = safe_now(s); !safe.ok()) return safe;
    if (!memory) return invalid_value("cudaMalloc3D: the output pointer is null");
    if (extent.width > SIZE_MAX / 2) return too_many_bytes("cudaMalloc3D");
    const std::size_t pitch = in_pitch(extent.width);
    std::size_t layer = 0, bytes = 0;
    if (__builtin_mul_overflow(pitch, extent.height, &layer) ||
        __builtin_mul_overflow(layer, extent.depth, &bytes)) {
      return too_many_bytes("cudaMalloc3D");
    }
    *memory = {nullptr, pitch, extent.width, extent.height};
    return allocate(s, &memory->ptr, bytes);
  });
}

cudaError_t cudaFree(void* address) {
  return call([&](state& s) {
    if (status safe = safe_now(s); !safe.ok()) return safe;
    if (address) s.wait_for_all();
    // On a GPU, cudaFree of memory from a pool does not wait for work that may still use it.
    if (address && s.current && !s.pools.holds(address_of(address))) host_waited_for_all(s);
    status outcome = release(s, address);
    announce_mistake("cudaFree", outcome);
    return outcome;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return call([&](state& s) {
    const auto info = s.current->memory_info();
    if (free_bytes) *free_bytes = info[0] - std::min(info[0], s.pools.idle_bytes());
    if (total_bytes) *total_bytes = info[1];
    return status{};
  });
}

cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
  return call([&](state& s) { return allocate_host(s, address, bytes, cudaHostAllocDefault); });
}

cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  return call([&](state& s) { return allocate_host(s, address, bytes, flags); });
}

cudaError_t cudaFreeHost(void* address) {
  return call([&](state& s) {
    if (!address) return status{};
    if (status safe = safe_now(s); !safe.ok()) return safe;
    s.wait_for_all();
    const auto found = s.host_allocations.find(address);
    if (found == s.host_allocations.end() || found->second.registered) {
      if (s.checks) {
        s.checks->refused_free(
            "cudaFreeHost() was given memory that is not, or is no longer, pinned",
            "Call it once for memory from cudaMallocHost or cudaHostAlloc; free device memory with "
            "cudaFree.");
      }
      return not_pinned("cudaFreeHost");
    }
    status before = s.synchronize();
    if (!before.ok()) return before;
    host_waited_for_all(s);
    const bool from_malloc = found->second.from_malloc;
    s.host_allocations.erase(found);
    if (s.checks) lift_guard();
    if (from_malloc) return std::free(address), status{};
    return s.current->free(address_of(address));
  });
}

cudaError_t cudaHostRegister(void* address, std::size_t bytes, unsigned flags) {
  return call([&](state& s) {
    if (status safe = safe_now(s); !safe.ok()) return safe;
    if (!address || bytes == 0) return invalid_value("cudaHostRegister: no memory");
    if (s.find_host(address)) {
      return status{error::host_memory_already_registered, "this memory is already registered"};
    }
    if (flags & ~(cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly)) {
      return invalid_value("cudaHostRegister: unknown flags, or memory of another device");
    }
    // If kernels cannot reach the memory, it can still be used for copies.
    auto* const registration = s.current->extras().registration;
    const bool reached =
        registration != nullptr &&
        registration->register_host({static_cast<std::byte*>(address), bytes}).ok();
    s.host_allocations[address] = {bytes, flags, true, reached, s.checks ? s.checks->origin() : 0};
    return status{};
  });
}

cudaError_t cudaHostUnregister(void* address) {
  return call([&](state& s) {
    if (status safe = safe_now(s); !safe.ok()) return safe;
    s.wait_for_all();
    const auto found = s.host_allocations.find(address);
    if (found == s.host_allocations.end() || !found->second.registered) {
      return status{error::host_memory_not_registered, "this memory was not registered"};
    }
    status before = s.synchronize();
    if (!before.ok()) return before;
    host_waited_for_all(s);
    if (found->second.reachable) {
      before = s.current->extras().registration->unregister_host(static_cast<std::byte*>(address));
    }
    s.host_allocations.erase(found);
    return before;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* address) {
  return call([&](state& s) {
    const auto* found = s.find_host(address);
    if (!flags || !found) return not_pinned("cudaHostGetFlags");
    // With unified addressing, all pinned memory is mapped. An H200 does not report whether memory
    // from cudaHostAlloc is portable.
    *flags = found->second.flags | cudaHostAllocMapped;
    if (!found->second.registered) *flags &= ~unsigned{cudaHostAllocPortable};
    return status{};
  });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* address, unsigned flags) {
  return call([&](state& s) {
    if (!device_pointer || flags != 0) {
      return invalid_value(
          "cudaHostGetDevicePointer: the output pointer is null, or unknown flags");
    }
    *device_pointer = nullptr;
    const auto* const found = s.find_host(address);
    if (!found) return not_pinned("cudaHostGetDevicePointer");
    if (!found->second.reachable) {
      const status refused{error::not_supported,
                           "cudaHostGetDevicePointer of this memory from cudaHostRegister is not "
                           "supported: use memory from cudaMallocHost"};
      announce(refused.message);
      return refused;
    }
    *device_pointer = address;
    return status{};
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call_even_lost([&](state& s) {
    if (!attributes) return invalid_value("cudaPointerGetAttributes: the output pointer is null");
    *attributes = {};
    const auto area = s.current->find_allocation(address_of(pointer));
    const auto* const pinned = s.find_host(pointer);
    const bool on_host = pinned != nullptr;
    if (area || on_host) {
      attributes->type = on_host        ? cudaMemoryTypeHost
                         : area->shared ? cudaMemoryTypeManaged
                                        : cudaMemoryTypeDevice;
      if (area || pinned->second.reachable) attributes->devicePointer = const_cast<void*>(pointer);
      if (on_host || area->shared) attributes->hostPointer = const_cast<void*>(pointer);
    } else {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = const_cast<void*>(pointer);
    }
    return status{};
  });
}
