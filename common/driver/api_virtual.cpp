// Virtual memory management: reserves addresses, creates memory, and maps memory at addresses.
#include <map>
#include <mutex>

#include "common/device/virtual_memory.hpp"
#include "common/driver/array_formats.hpp"

using namespace stepwise;
using namespace stepwise::driver;
using runtime::invalid_value;
using runtime::number_of;
using runtime::state;

namespace {

// Runs `body(virtual_memory&)` under the runtime's lock. Needs no current context.
template <class Body>
CUresult with_mappings(const char* function, Body&& body,
                       std::source_location at = std::source_location::current()) {
  return answer(
      [&] {
        return runtime::call(
            [&](state& s) {
              virtual_memory* const mappings = s.current->extras().mappings;
              if (mappings) {
                status outcome = body(*mappings);
                runtime::announce_mistake(function, outcome);
                return outcome;
              }
              runtime::announce("virtual memory management is not supported on this device");
              return status{error::not_supported, ""};
            },
            at);
      },
      at);
}

// Success for pinned memory of the device, which is the only supported kind.
CUresult check_properties(const CUmemAllocationProp* p) {
  if (!p || number_of(p->type) != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  switch (number_of(p->location.type)) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      if (p->location.id != 0) return CUDA_ERROR_INVALID_DEVICE;
      break;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return refused("handles of host memory (cuMemCreate)");
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  // The program may request a shareable handle, although its export is not supported.
  constexpr int known = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 |
                        CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
  const int handles = number_of(p->requestedHandleTypes);
  if ((handles & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
  if ((handles & ~int{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}) != 0)
    return refused("memory handles for Windows and for fabrics");
  return CUDA_SUCCESS;
}

// The properties of each piece. Never destroyed, because static destructors may call the driver.
struct piece_properties {
  std::mutex lock;
  std::map<CUmemGenericAllocationHandle, CUmemAllocationProp> by_handle;
  static piece_properties& get() {
    static auto* const only = new piece_properties;
    return *only;
  }
};

memory_piece piece_of(CUmemGenericAllocationHandle handle) { return memory_piece{handle}; }

}  // namespace

CUresult cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags which) {
  return answer([&]() -> CUresult {
    const int option = number_of(which);
    if (!bytes || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                   option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
      return CUDA_ERROR_INVALID_VALUE;
    if (!properties) return CUDA_ERROR_INVALID_VALUE;
    CUmemAllocationProp pinned = *properties;
    pinned.type = CU_MEM_ALLOCATION_TYPE_PINNED;  // an H100's driver checks only the location
    const CUresult known = check_properties(&pinned);
    if (known != CUDA_SUCCESS) return known;
    return with_mappings("cuMemGetAllocationGranularity",
                         [&](virtual_memory& m) { return *bytes = m.granularity(), status{}; });
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment,
                             CUdeviceptr wanted, unsigned long long flags) {
  return with_mappings("cuMemAddressReserve", [&](virtual_memory& m) {
    if (!address || flags != 0)
      return invalid_value("the address pointer is null, or flags are set");
    const auto made = m.reserve(bytes, alignment, wanted);
    if (made.ok()) *address = *made;
    return made.failure();
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  return with_mappings("cuMemAddressFree",
                       [&](virtual_memory& m) { return m.unreserve(address, bytes); });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  return answer([&]() -> CUresult {
    if (!handle || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const CUresult known = check_properties(properties);
    if (known != CUDA_SUCCESS) return known;
    return with_mappings("cuMemCreate", [&](virtual_memory& m) {
      const auto made = m.create(bytes);
      if (!made.ok()) return made.failure();
      *handle = static_cast<CUmemGenericAllocationHandle>(*made);
      piece_properties& all = piece_properties::get();
      const std::lock_guard guard(all.lock);
      all.by_handle[*handle] = *properties;  // compression has no visible effect
      return status{};
    });
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return with_mappings("cuMemRelease",
                       [&](virtual_memory& m) { return m.release(piece_of(handle)); });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return with_mappings("cuMemRetainAllocationHandle", [&](virtual_memory& m) {
    if (!handle) return invalid_value("the handle pointer is null");
    const auto found = m.retain(address_of(address));
    if (found.ok()) *handle = static_cast<CUmemGenericAllocationHandle>(*found);
    return found.failure();
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  return with_mappings("cuMemGetAllocationPropertiesFromHandle", [&](virtual_memory& m) {
    piece_properties& all = piece_properties::get();
    const std::lock_guard guard(all.lock);
    const auto found = all.by_handle.find(handle);
    if (!properties || found == all.by_handle.end() || !m.has(piece_of(handle)))
      return invalid_value("there is no such memory handle; it may have been released");
    *properties = found->second;
    return status{};
  });
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return with_mappings("cuMemMap", [&](virtual_memory& m) {
    if (offset != 0 || flags != 0) return invalid_value("the offset or the flags are not 0");
    return m.map(address, bytes, piece_of(handle));
  });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  return with_mappings("cuMemUnmap", [&](virtual_memory& m) { return m.unmap(address, bytes); });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* list,
                        size_t count) {
  return answer([&]() -> CUresult {
    if (!list || count == 0) return CUDA_ERROR_INVALID_VALUE;
    memory_access access = memory_access::none;
    for (size_t i = 0; i < count; ++i) {
      const CUmemLocation& place = list[i].location;
      if (number_of(place.type) != CU_MEM_LOCATION_TYPE_DEVICE)
        return refused("host accesses to mapped memory (cuMemSetAccess)");
      if (place.id != 0) return CUDA_ERROR_INVALID_VALUE;
      switch (number_of(list[i].flags)) {
        case CU_MEM_ACCESS_FLAGS_PROT_NONE:
          access = memory_access::none;
          break;
        case CU_MEM_ACCESS_FLAGS_PROT_READ:
          access = memory_access::read;
          break;
        case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
          access = memory_access::read_write;
          break;
        default:
          return CUDA_ERROR_INVALID_VALUE;
      }
    }
    return with_mappings("cuMemSetAccess",
                         [&](virtual_memory& m) { return m.set_access(address, bytes, access); });
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* place,
                        CUdeviceptr address) {
  return answer([&]() -> CUresult {
    if (!flags || !place || number_of(place->type) != CU_MEM_LOCATION_TYPE_DEVICE)
      return CUDA_ERROR_INVALID_VALUE;
    if (place->id != 0) return CUDA_ERROR_INVALID_DEVICE;
    return with_mappings("cuMemGetAccess", [&](virtual_memory& m) {
      const auto found = m.access_at(address);
      if (!found.ok()) return found.failure();
      *flags = *found == memory_access::none   ? CU_MEM_ACCESS_FLAGS_PROT_NONE
               : *found == memory_access::read ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                               : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      return status{};
    });
  });
}
