// Stream-ordered allocation, and memory pools.
#include "common/runtime/api/allocation.hpp"
#include "common/runtime/api/capturing.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

cudaMemPool_t handle_of(memory_pool& pool) { return reinterpret_cast<cudaMemPool_t>(&pool); }

// Runs `body(state&, memory_pool&)` for one of the program's pools.
template <class Body>
cudaError_t with_pool(cudaMemPool_t handle, Body&& body) {
  return call([&](state& s) {
    memory_pool* const pool = s.pools.find(handle);
    return pool ? body(s, *pool) : invalid_value("there is no such memory pool");
  });
}

status allocate_from(state& s, memory_pool& pool, void** address, std::size_t bytes,
                     cudaStream_t stream) {
  if (!address) return invalid_value("cudaMallocAsync: the pointer for the address is null");
  if (s.captures != 0) {
    if (const auto captured = capture_allocation(s, address, bytes, stream)) return *captured;
  }
  *address = nullptr;
  status room = pool.check_room(bytes);
  if (!room.ok()) return refused(room);
  room = allocate(s, address, bytes);
  if (room.ok() && *address) pool.add(address_of(*address), bytes);
  return room;
}

// Success if the pool is in the memory of the only device.
status check_place(const cudaMemLocation* place, int type) {
  if (!place) return invalid_value("the memory pool has no location");
  if (type == cudaMemAllocationTypeManaged ||
      (number_of(place->type) >= cudaMemLocationTypeHost &&
       number_of(place->type) <= cudaMemLocationTypeHostNumaCurrent)) {
    return {error::not_supported, "memory pools of host or managed memory are not supported"};
  }
  if (type != cudaMemAllocationTypePinned || number_of(place->type) != cudaMemLocationTypeDevice) {
    return invalid_value("a memory pool must use pinned memory on a device");
  }
  if (place->id != 0) return invalid_value("there is only one device, number 0");
  return {};
}

status check_pool_device(int number) {
  if (number == 0) return {};
  return {error::invalid_device, "there is only one device, number 0"};
}

template <class T>
status store(void* place, T value) {
  std::memcpy(place, &value, sizeof value);
  return {};
}

template <class T>
T load(const void* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

// The pool's variable for a boolean attribute, or null.
int* switch_of(memory_pool& pool, int attribute) {
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
      return &pool.reuse_follow_events;
    case cudaMemPoolReuseAllowOpportunistic:
      return &pool.reuse_opportunistic;
    case cudaMemPoolReuseAllowInternalDependencies:
      return &pool.reuse_internal;
    default:
      return nullptr;
  }
}

status get_attribute(memory_pool& pool, int attribute, void* value) {
  if (!value) return invalid_value("cudaMemPoolGetAttribute: the output pointer is null");
  if (const int* found = switch_of(pool, attribute)) return store(value, *found);
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return store(value, pool.release_threshold);
    case cudaMemPoolAttrReservedMemCurrent:
      return store(value, pool.reserved());
    case cudaMemPoolAttrReservedMemHigh:
      return store(value, pool.reserved_high());
    case cudaMemPoolAttrUsedMemCurrent:
      return store(value, pool.used());
    case cudaMemPoolAttrUsedMemHigh:
      return store(value, pool.used_high());
    default:
      return invalid_value("there is no pool attribute " + std::to_string(attribute));
  }
}

status set_attribute(memory_pool& pool, int attribute, const void* value) {
  if (!value) return invalid_value("cudaMemPoolSetAttribute: no value");
  if (int* const found = switch_of(pool, attribute)) {
    *found = load<int>(value) != 0;
    return {};
  }
  if (attribute == cudaMemPoolAttrReleaseThreshold) {
    pool.release_threshold = load<std::uint64_t>(value);
    return {};
  }
  const bool high =
      attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh;
  if (!high || load<std::uint64_t>(value) != 0) {
    return invalid_value("cudaMemPoolSetAttribute: attribute " + std::to_string(attribute) +
                         " cannot be set to this");
  }
  if (attribute == cudaMemPoolAttrUsedMemHigh) {
    pool.reset_used_high();
  } else {
    pool.reset_reserved_high();
  }
  return {};
}

}  // namespace

cudaError_t cudaMallocAsync(void** address, std::size_t bytes, cudaStream_t stream) {
  return call([&](state& s) {
    status known = check_stream(s, stream);
    return known.ok() ? allocate_from(s, s.pools.current(), address, bytes, stream) : known;
  });
}
STEPWISE_ALIAS(cudaMallocAsync_ptsz, cudaMallocAsync);

cudaError_t cudaMallocFromPoolAsync(void** address, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return with_pool(pool, [&](state& s, memory_pool& from) {
    status known = check_stream(s, stream);
    return known.ok() ? allocate_from(s, from, address, bytes, stream) : known;
  });
}
STEPWISE_ALIAS(cudaMallocFromPoolAsync_ptsz, cudaMallocFromPoolAsync);

cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  return call([&](state& s) {
    status known = check_stream(s, stream);
    if (!known.ok()) return known;
    if (s.captures != 0) {
      if (const auto captured = capture_release(s, address, stream)) return *captured;
    }
    enter_stream(s, stream);
    // For a wrong address, this call returns the error, not a later call.
    if (!s.current->find_allocation(address_of(address))) return release(s, address);
    return in_order(s, stream, [&s, address] { return release(s, address); });
  });
}
STEPWISE_OWN_STREAM(cudaFreeAsync_ptsz, cudaFreeAsync, (void* address, cudaStream_t stream),
                    address, stream)

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call([&](state& s) {
    if (!pool || !properties) return invalid_value("cudaMemPoolCreate: a null pointer");
    status known = check_place(&properties->location, number_of(properties->allocType));
    if (known.ok() && number_of(properties->handleTypes) != cudaMemHandleTypeNone) {
      known = {error::not_supported, "memory pools for other processes are not supported"};
    }
    if (known.ok()) *pool = handle_of(*s.pools.create(properties->maxSize));
    return known;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return with_pool(pool, [](state& s, memory_pool& gone) {
    return s.pools.destroy(gone) ? status{} : invalid_value("the default pool cannot be destroyed");
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t keep) {
  return with_pool(pool, [&](state&, memory_pool& trimmed) {
    trimmed.trim(keep);
    return status{};
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return with_pool(pool, [&](state&, memory_pool& asked) {
    return get_attribute(asked, number_of(attribute), value);
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return with_pool(pool, [&](state&, memory_pool& asked) {
    return set_attribute(asked, number_of(attribute), value);
  });
}

// The device can always read and write its own pools. That access cannot be revoked.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list,
                                 std::size_t count) {
  return with_pool(pool, [&](state&, memory_pool&) {
    if (!list && count != 0) return invalid_value("cudaMemPoolSetAccess: no list");
    for (std::size_t i = 0; i < count; i++) {
      status known = check_place(&list[i].location, cudaMemAllocationTypePinned);
      if (!known.ok()) return known;
      if (number_of(list[i].flags) != cudaMemAccessFlagsProtReadWrite) {
        return status{error::invalid_device,
                      "cudaMemPoolSetAccess: a device cannot lose access to its own pools"};
      }
    }
    return status{};
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* place) {
  return with_pool(pool, [&](state&, memory_pool&) {
    if (!flags) return invalid_value("cudaMemPoolGetAccess: the output pointer is null");
    status known = check_place(place, cudaMemAllocationTypePinned);
    if (known.ok()) *flags = cudaMemAccessFlagsProtReadWrite;
    return known;
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int number) {
  return call([&](state& s) {
    if (!pool) return invalid_value("cudaDeviceGetDefaultMemPool: the output pointer is null");
    status known = check_pool_device(number);
    if (known.ok()) *pool = handle_of(s.pools.default_pool());
    return known;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int number) {
  return call([&](state& s) {
    if (!pool) return invalid_value("cudaDeviceGetMemPool: the output pointer is null");
    status known = check_pool_device(number);
    if (known.ok()) *pool = handle_of(s.pools.current());
    return known;
  });
}

cudaError_t cudaDeviceSetMemPool(int number, cudaMemPool_t pool) {
  return with_pool(pool, [&](state& s, memory_pool& chosen) {
    status known = check_pool_device(number);
    if (known.ok()) s.pools.set_current(chosen);
    return known;
  });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* place,
                                     cudaMemAllocationType type) {
  return call([&](state& s) {
    if (!pool) return invalid_value("cudaMemGetDefaultMemPool: the output pointer is null");
    status known = check_place(place, number_of(type));
    if (known.ok()) *pool = handle_of(s.pools.default_pool());
    return known;
  });
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* place,
                              cudaMemAllocationType type) {
  return call([&](state& s) {
    if (!pool) return invalid_value("cudaMemGetMemPool: the output pointer is null");
    status known = check_place(place, number_of(type));
    if (known.ok()) *pool = handle_of(s.pools.current());
    return known;
  });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* place, cudaMemAllocationType type,
                              cudaMemPool_t pool) {
  return with_pool(pool, [&](state& s, memory_pool& chosen) {
    status known = check_place(place, number_of(type));
    if (known.ok()) s.pools.set_current(chosen);
    return known;
  });
}
