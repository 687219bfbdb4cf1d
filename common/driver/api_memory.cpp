// Device, pinned, managed and pooled memory, and pointer attributes.
#include <cstring>
#include <span>

#include "common/driver/driver.hpp"

using namespace stepwise;
using namespace stepwise::driver;
using runtime::state;

namespace {

// Allocates memory owned by the current context, by `make(void**) -> cudaError_t`.
template <class Make>
CUresult allocate(CUdeviceptr* address, Make&& make,
                  std::source_location at = std::source_location::current()) {
  return in_context(
      [&](context& owner) {
        void* made = nullptr;
        if (!address) return cudaErrorInvalidValue;
        const cudaError_t outcome = make(&made);
        if (outcome != cudaSuccess) return outcome;
        *address = address_of(made);
        contexts::get().own(owner, &context::memory, *address);
        return outcome;
      },
      at);
}

template <class Make>
CUresult allocate_host(void** address, Make&& make,
                       std::source_location at = std::source_location::current()) {
  return in_context(
      [&](context& owner) {
        if (!address) return cudaErrorInvalidValue;
        const cudaError_t outcome = make(address);
        if (outcome == cudaSuccess) contexts::get().own(owner, &context::host_memory, *address);
        return outcome;
      },
      at);
}

cudaMemPool_t pool_of(CUmemoryPool pool) { return pool; }

// The attributes of an address. Host memory that CUDA does not know has no attributes.
struct address_facts {
  bool known = false, device = false, host = false, managed = false;
  CUdeviceptr first = 0;
  std::size_t bytes = 0;
};

address_facts facts_of(state& s, CUdeviceptr address) {
  address_facts facts;
  const auto area = s.current->find_allocation(address);
  const auto* const pinned = s.find_host(pointer_of(address));
  facts.known = area || pinned;
  facts.device = area && !pinned;
  facts.managed = area && area->shared && !pinned;
  facts.host = pinned != nullptr || (area && area->shared);
  if (pinned) {
    facts.first = address_of(pinned->first);
    facts.bytes = pinned->second.bytes;
  } else if (area) {
    facts.first = area->address;
    facts.bytes = area->bytes;
  }
  return facts;
}

template <class T>
status store(void* place, T value) {
  std::memcpy(place, &value, sizeof value);
  return {};
}

// source  cuda.h, CUpointer_attribute, for the type of each attribute
status attribute_of(const address_facts& f, CUdeviceptr address, int attribute, void* place) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return store(place, f.known ? handle_of(contexts::get().current()) : CUcontext{});
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return store(place, unsigned(!f.known   ? 0
                                   : f.device ? CU_MEMORYTYPE_DEVICE
                                              : CU_MEMORYTYPE_HOST));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return store(place, f.known ? address : CUdeviceptr{});
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!f.host) return {error::invalid_value, "the host cannot access this memory"};
      return store(place, pointer_of(address));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return store(place, 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:  // the address serves as the id
      return store(place, static_cast<unsigned long long>(f.first));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return store(place, f.managed ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return store(place, f.known ? 0 : -2);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return store(place, f.first);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return store(place, f.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return store(place, f.known ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return store(place, std::uint64_t{0});
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return store(place, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    default:
      return {error::not_supported,
              "pointer attribute " + std::to_string(attribute) + " is not supported"};
  }
}

cudaMemLocation location_of(CUmemLocation place) {
  return {static_cast<cudaMemLocationType>(runtime::number_of(place.type)), place.id};
}

// The location for a device number in calls before CUDA 12.2, where -1 is the host.
cudaMemLocation location_of(CUdevice device) {
  if (device == CU_DEVICE_CPU) return {cudaMemLocationTypeHost, 0};
  return {cudaMemLocationTypeDevice, device};
}

}  // namespace

CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  return allocate(address, [&](void** made) {
    return bytes == 0 ? cudaErrorInvalidValue : cudaMalloc(made, bytes);
  });
}

CUresult cuMemAllocPitch(CUdeviceptr* address, size_t* pitch, size_t width, size_t rows,
                         unsigned element_bytes) {
  return allocate(address, [&](void** made) {
    const bool possible = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
    if (!possible || width == 0 || rows == 0) return cudaErrorInvalidValue;
    return cudaMallocPitch(made, pitch, width, rows);
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  return allocate(address, [&](void** made) {
    return bytes == 0 ? cudaErrorInvalidValue : cudaMallocManaged(made, bytes, flags);
  });
}

CUresult cuMemFree(CUdeviceptr address) {
  return in_context([&](context&) {
    const cudaError_t outcome = cudaFree(pointer_of(address));
    if (outcome == cudaSuccess) contexts::get().disown(&context::memory, address);
    return outcome;
  });
}

CUresult cuMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return in_context([&](context&) { return cudaMemGetInfo(free_bytes, total_bytes); });
}

CUresult cuMemGetAddressRange(CUdeviceptr* first, size_t* bytes, CUdeviceptr address) {
  return in_context([&](context&) -> CUresult {
    bool found = false;
    const cudaError_t outcome = runtime::call([&](state& s) {
      const auto area = s.current->find_allocation(address);
      found = area.has_value();
      if (area && first) *first = area->address;
      if (area && bytes) *bytes = area->bytes;
      return status{};
    });
    return outcome == cudaSuccess && !found ? CUDA_ERROR_NOT_FOUND : result_of(outcome);
  });
}

CUresult cuMemAllocHost(void** address, size_t bytes) {
  return allocate_host(address, [&](void** made) {
    return bytes == 0 ? cudaErrorInvalidValue : cudaMallocHost(made, bytes);
  });
}

CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  return allocate_host(address, [&](void** made) { return cudaHostAlloc(made, bytes, flags); });
}

CUresult cuMemFreeHost(void* address) {
  return in_context([&](context&) {
    const cudaError_t outcome = cudaFreeHost(address);
    if (outcome == cudaSuccess) contexts::get().disown(&context::host_memory, address);
    return outcome;
  });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* host, unsigned flags) {
  return in_context([&](context&) {
    return cudaHostGetDevicePointer(reinterpret_cast<void**>(address), host, flags);
  });
}

CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
  return in_context([&](context&) { return cudaHostGetFlags(flags, host); });
}

CUresult cuMemHostRegister(void* host, size_t bytes, unsigned flags) {
  return allocate_host(&host, [&](void** made) { return cudaHostRegister(*made, bytes, flags); });
}
STEPWISE_ALSO("cuMemHostRegister", cuMemHostRegister_v2);

CUresult cuMemHostUnregister(void* host) {
  return in_context([&](context&) {
    const cudaError_t outcome = cudaHostUnregister(host);
    if (outcome == cudaSuccess) contexts::get().disown(&context::host_memory, host);
    return outcome;
  });
}

CUresult cuPointerGetAttribute(void* place, CUpointer_attribute attribute, CUdeviceptr address) {
  return in_context([&](context&) {
    return runtime::call_even_lost([&](state& s) {
      const address_facts facts = facts_of(s, address);
      if (!place || !facts.known)
        return runtime::invalid_value("the address is not in memory known to CUDA");
      return attribute_of(facts, address, runtime::number_of(attribute), place);
    });
  });
}

// For memory that CUDA does not know, every attribute is 0.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** places,
                                CUdeviceptr address) {
  return in_context([&](context&) {
    return runtime::call_even_lost([&](state& s) {
      if (!attributes || !places) return runtime::invalid_value("no attributes");
      const address_facts facts = facts_of(s, address);
      for (unsigned i = 0; i < count; i++) {
        const int which = runtime::number_of(attributes[i]);
        if (which == CU_POINTER_ATTRIBUTE_HOST_POINTER && !facts.host) {
          store(places[i], facts.known ? nullptr : pointer_of(address));
          continue;
        }
        const status stored = attribute_of(facts, address, which, places[i]);
        if (!stored.ok()) return stored;
      }
      return status{};
    });
  });
}

// The only attribute orders copies, which are always in order here.
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr) {
  return in_context([&](context&) {
    return value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? CUDA_SUCCESS
                                                                  : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation place) {
  return in_context([&](context&) {
    return cudaMemAdvise(pointer_of(address), bytes,
                         static_cast<cudaMemoryAdvise>(runtime::number_of(advice)),
                         location_of(place));
  });
}
STEPWISE_NAMED("cuMemAdvise", advise_device, CUdeviceptr, size_t, CUmem_advise, CUdevice);
CUresult advise_device(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
  return in_context([&](context&) {
    return cudaMemAdvise(pointer_of(address), bytes,
                         static_cast<cudaMemoryAdvise>(runtime::number_of(advice)),
                         location_of(device));
  });
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUmemLocation place, unsigned flags,
                            CUstream stream) {
  return in_context([&](context&) {
    return cudaMemPrefetchAsync(pointer_of(address), bytes, location_of(place), flags, stream);
  });
}
STEPWISE_ALSO("cuMemPrefetchAsync_v2_ptsz", cuMemPrefetchAsync_v2);
STEPWISE_NAMED("cuMemPrefetchAsync", prefetch_to_device, CUdeviceptr, size_t, CUdevice, CUstream);
CUresult prefetch_to_device(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  return in_context([&](context&) {
    return cudaMemPrefetchAsync(pointer_of(address), bytes, location_of(device), 0, stream);
  });
}
STEPWISE_ALSO_OF("cuMemPrefetchAsync_ptsz", prefetch_to_device, "cuMemPrefetchAsync");

CUresult cuMemRangeGetAttribute(void* data, size_t data_bytes, CUmem_range_attribute attribute,
                                CUdeviceptr address, size_t bytes) {
  return in_context([&](context&) {
    return cudaMemRangeGetAttribute(
        data, data_bytes, static_cast<cudaMemRangeAttribute>(runtime::number_of(attribute)),
        pointer_of(address), bytes);
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  return allocate(address, [&](void** made) {
    return bytes == 0 ? cudaErrorInvalidValue : cudaMallocAsync(made, bytes, stream);
  });
}
STEPWISE_ALSO("cuMemAllocAsync_ptsz", cuMemAllocAsync);

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return allocate(address, [&](void** made) {
    return bytes == 0 ? cudaErrorInvalidValue
                      : cudaMallocFromPoolAsync(made, bytes, pool_of(pool), stream);
  });
}
STEPWISE_ALSO("cuMemAllocFromPoolAsync_ptsz", cuMemAllocFromPoolAsync);

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return in_context([&](context&) {
    const cudaError_t outcome = cudaFreeAsync(pointer_of(address), stream);
    if (outcome == cudaSuccess) contexts::get().disown(&context::memory, address);
    return outcome;
  });
}
STEPWISE_ALSO("cuMemFreeAsync_ptsz", cuMemFreeAsync);

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
  return answer([&] {
    return cudaMemPoolCreate(pool, reinterpret_cast<const cudaMemPoolProps*>(properties));
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return answer([&] { return cudaMemPoolDestroy(pool); });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  return answer([&] { return cudaMemPoolTrimTo(pool, keep); });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return answer([&] {
    return cudaMemPoolGetAttribute(
        pool, static_cast<cudaMemPoolAttr>(runtime::number_of(attribute)), value);
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return answer([&] {
    return cudaMemPoolSetAttribute(
        pool, static_cast<cudaMemPoolAttr>(runtime::number_of(attribute)), value);
  });
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* list, size_t count) {
  static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));
  return answer([&] {
    return cudaMemPoolSetAccess(pool, reinterpret_cast<const cudaMemAccessDesc*>(list), count);
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* place) {
  return answer([&] {
    return cudaMemPoolGetAccess(reinterpret_cast<cudaMemAccessFlags*>(flags), pool,
                                reinterpret_cast<cudaMemLocation*>(place));
  });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return of_device(device, [&] { return cudaDeviceGetDefaultMemPool(pool, 0); });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return of_device(device, [&] { return cudaDeviceGetMemPool(pool, 0); });
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return of_device(device, [&] { return cudaDeviceSetMemPool(0, pool); });
}
