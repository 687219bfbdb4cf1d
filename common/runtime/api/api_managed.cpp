// Managed memory, which the host and kernels access through the same address.
#include <algorithm>

#include "common/runtime/api/allocation.hpp"
#include "common/runtime/api/batch.hpp"
#include "common/runtime/api/capturing.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

// Success if the range is inside one managed allocation or variable.
status check_managed(state& s, const char* function, const void* pointer, std::size_t bytes) {
  const auto area = s.current->find_allocation(address_of(pointer));
  if (!area || !area->shared || s.find_host(pointer)) {
    return invalid_value(std::string(function) + ": this is not managed memory");
  }
  if (bytes == 0 || bytes > area->bytes - (address_of(pointer) - area->address)) {
    return invalid_value(std::string(function) + ": " + std::to_string(bytes) +
                         " bytes are not part of the managed allocation");
  }
  return {};
}

status check_place(const cudaMemLocation& place) {
  switch (number_of(place.type)) {
    case cudaMemLocationTypeDevice:
      if (place.id == 0) return {};
      return {error::invalid_device, "there is no device " + std::to_string(place.id)};
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent:
      return {};
    default:
      return invalid_value("there is no location type " + std::to_string(number_of(place.type)));
  }
}

memory_place kept(const cudaMemLocation& place) {
  const int type = number_of(place.type);
  const bool numbered = type == cudaMemLocationTypeDevice || type == cudaMemLocationTypeHostNuma;
  return {type, numbered ? place.id : cudaCpuDeviceId};
}

// A place in the form that the older attributes have. These can name only devices and the CPU.
int device_number(const memory_place& place) {
  if (place.type == cudaMemLocationTypeInvalid) return cudaInvalidDeviceId;
  return place.type == cudaMemLocationTypeDevice ? place.id : cudaCpuDeviceId;
}

status prefetch(state& s, const void* pointer, std::size_t bytes, const cudaMemLocation& place) {
  status known = check_managed(s, "cudaMemPrefetchAsync", pointer, bytes);
  if (known.ok()) known = check_place(place);
  if (!known.ok()) return known;
  s.advice.update(address_of(pointer), bytes,
                  [&](memory_advice& a) { a.last_prefetch = kept(place); });
  return {};
}

status advise(state& s, const void* pointer, std::size_t bytes, int advice,
              const cudaMemLocation& place) {
  status known = check_managed(s, "cudaMemAdvise", pointer, bytes);
  const bool has_place = advice != cudaMemAdviseSetReadMostly &&
                         advice != cudaMemAdviseUnsetReadMostly &&
                         advice != cudaMemAdviseUnsetPreferredLocation;
  if (!known.ok()) return known;
  if (has_place) {
    // For an unknown device, a prefetch returns invalid_device but advice returns invalid_value.
    known = check_place(place);
    if (!known.ok()) return invalid_value("cudaMemAdvise: " + known.message);
  }
  if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy) {
    return invalid_value("cudaMemAdvise: there is no advice " + std::to_string(advice));
  }
  const bool by_device = number_of(place.type) == cudaMemLocationTypeDevice;
  s.advice.update(address_of(pointer), bytes, [&](memory_advice& a) {
    bool& used = by_device ? a.used_by_device : a.used_by_host;
    if (advice == cudaMemAdviseSetReadMostly) a.read_mostly = true;
    if (advice == cudaMemAdviseUnsetReadMostly) a.read_mostly = false;
    if (advice == cudaMemAdviseSetPreferredLocation) a.preferred = kept(place);
    if (advice == cudaMemAdviseUnsetPreferredLocation) a.preferred = {};
    if (advice == cudaMemAdviseSetAccessedBy) used = true;
    if (advice == cudaMemAdviseUnsetAccessedBy) used = false;
  });
  return {};
}

// The value of an attribute that consists of one number.
std::optional<int> range_number(const managed_advice& advice, int attribute, device_address address,
                                std::uint64_t bytes) {
  const auto preferred =
      advice.common(address, bytes, [](const memory_advice& a) { return a.preferred; })
          .value_or(memory_place{});
  const auto prefetched =
      advice.common(address, bytes, [](const memory_advice& a) { return a.last_prefetch; })
          .value_or(memory_place{});
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
      return advice.common(address, bytes, [](const memory_advice& a) { return a.read_mostly; })
          .value_or(false);
    case cudaMemRangeAttributePreferredLocation:
      return device_number(preferred);
    case cudaMemRangeAttributeLastPrefetchLocation:
      return device_number(prefetched);
    case cudaMemRangeAttributePreferredLocationType:
      return preferred.type;
    case cudaMemRangeAttributePreferredLocationId:
      return preferred.id;
    case cudaMemRangeAttributeLastPrefetchLocationType:
      return prefetched.type;
    case cudaMemRangeAttributeLastPrefetchLocationId:
      return prefetched.id;
    default:
      return std::nullopt;
  }
}

status range_attribute(state& s, void* data, std::size_t data_bytes, int attribute,
                       const void* pointer, std::size_t bytes) {
  status known = check_managed(s, "cudaMemRangeGetAttribute", pointer, bytes);
  if (!known.ok()) return known;
  if (!data || data_bytes < sizeof(int) || data_bytes % sizeof(int) != 0) {
    return invalid_value(
        "cudaMemRangeGetAttribute: the output buffer does not hold whole integers");
  }
  int* const out = static_cast<int*>(data);
  const device_address address = address_of(pointer);
  if (attribute == cudaMemRangeAttributeAccessedBy) {
    std::fill_n(out, data_bytes / sizeof(int), cudaInvalidDeviceId);
    const bool host =
        s.advice.common(address, bytes, [](const memory_advice& a) { return a.used_by_host; })
            .value_or(false);
    const bool on_device =
        s.advice.common(address, bytes, [](const memory_advice& a) { return a.used_by_device; })
            .value_or(false);
    std::size_t n = 0;
    if (on_device) out[n++] = 0;
    if (host && n < data_bytes / sizeof(int)) out[n] = cudaCpuDeviceId;
    return {};
  }
  const auto number = range_number(s.advice, attribute, address, bytes);
  if (!number || data_bytes != sizeof(int)) {
    return invalid_value("cudaMemRangeGetAttribute: no such attribute of " +
                         std::to_string(data_bytes) + " bytes");
  }
  *out = *number;
  return {};
}

struct range_batch {
  void** pointers;
  std::size_t* sizes;
  std::size_t count;
  unsigned long long flags;
  cudaStream_t stream;
  bool per_thread = false;
};

status check_ranges(state& s, const range_batch& batch) {
  status known = check_batch_stream(s, batch.stream, batch.per_thread);
  if (known.ok() && (!batch.pointers || !batch.sizes || batch.count == 0 || batch.flags != 0)) {
    known = invalid_value("a batch of ranges: no ranges, or unknown flags");
  }
  for (std::size_t i = 0; i < batch.count && known.ok(); i++) {
    known = check_managed(s, "a batch of ranges", batch.pointers[i], batch.sizes[i]);
  }
  return known;
}

cudaError_t prefetch_batch(const range_batch& batch, const cudaMemLocation* places,
                           const std::size_t* starts, std::size_t place_count) {
  return call([&](state& s) {
    status known = check_ranges(s, batch);
    if (known.ok()) {
      known =
          check_batch_entries("a batch of prefetches", batch.count, places, starts, place_count);
    }
    std::size_t place = 0;
    for (std::size_t i = 0; i < batch.count && known.ok(); i++) {
      if (place + 1 < place_count && starts[place + 1] == i) place++;
      known = prefetch(s, batch.pointers[i], batch.sizes[i], places[place]);
    }
    return known;
  });
}

cudaError_t discard_batch(const range_batch& batch) {
  return call([&](state& s) { return check_ranges(s, batch); });
}

}  // namespace

cudaError_t cudaMallocManaged(void** address, std::size_t bytes, unsigned flags) {
  return call([&](state& s) {
    if (!address) return invalid_value("cudaMallocManaged: the pointer for the address is null");
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) {
      return invalid_value("cudaMallocManaged: the flags must be Global or Host");
    }
    *address = nullptr;
    if (bytes == 0) return status{};
    if (status safe = safe_now(s); !safe.ok()) return safe;
    note_place(s);
    const auto found = s.current->allocate_shared(bytes);
    if (!found.ok()) return refused(found.failure());
    *address = pointer_of(*found);
    return status{};
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t bytes,
                                     unsigned flags) {
  return call([&](state& s) {
    status known = check_stream(s, stream);
    if (known.ok()) known = check_not_captured(s, stream);
    if (known.ok()) known = check_managed(s, "cudaStreamAttachMemAsync", pointer, 1);
    if (!known.ok()) return known;
    const bool whole =
        s.current->find_allocation(address_of(pointer))->address == address_of(pointer);
    if (!whole || (bytes != 0 && !check_managed(s, "", pointer, bytes).ok())) {
      return invalid_value("cudaStreamAttachMemAsync: only a whole allocation can be attached");
    }
    const bool to_stream = flags == cudaMemAttachSingle;
    if ((!to_stream && flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) ||
        (to_stream && !stream)) {
      return invalid_value("cudaStreamAttachMemAsync: unknown flags, or Single without a stream");
    }
    return status{};  // streams finish within the call, so there is no access to prevent
  });
}
STEPWISE_ALIAS(cudaStreamAttachMemAsync_ptsz, cudaStreamAttachMemAsync);

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation place,
                                 unsigned flags, cudaStream_t stream) {
  return call([&](state& s) {
    status known = check_stream(s, stream);
    if (known.ok()) known = check_not_captured(s, stream);
    if (!known.ok()) return known;
    if (flags != 0) return invalid_value("cudaMemPrefetchAsync: unknown flags");
    return prefetch(s, pointer, bytes, place);
  });
}
STEPWISE_ALIAS(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync);

cudaError_t cudaMemPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                      cudaMemLocation* places, std::size_t* starts,
                                      std::size_t place_count, unsigned long long flags,
                                      cudaStream_t stream) {
  return prefetch_batch({pointers, sizes, count, flags, stream}, places, starts, place_count);
}
STEPWISE_EXPORT cudaError_t cudaMemPrefetchBatchAsync_ptsz(
    void** pointers, std::size_t* sizes, std::size_t count, cudaMemLocation* places,
    std::size_t* starts, std::size_t place_count, unsigned long long flags, cudaStream_t stream) {
  return prefetch_batch({pointers, sizes, count, flags, stream, true}, places, starts, place_count);
}

// Discarded memory may hold anything, including its old contents.
cudaError_t cudaMemDiscardBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                     unsigned long long flags, cudaStream_t stream) {
  return discard_batch({pointers, sizes, count, flags, stream});
}
STEPWISE_EXPORT cudaError_t cudaMemDiscardBatchAsync_ptsz(void** pointers, std::size_t* sizes,
                                                          std::size_t count,
                                                          unsigned long long flags,
                                                          cudaStream_t stream) {
  return discard_batch({pointers, sizes, count, flags, stream, true});
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, std::size_t* sizes,
                                                std::size_t count, cudaMemLocation* places,
                                                std::size_t* starts, std::size_t place_count,
                                                unsigned long long flags, cudaStream_t stream) {
  return prefetch_batch({pointers, sizes, count, flags, stream}, places, starts, place_count);
}
STEPWISE_EXPORT cudaError_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(
    void** pointers, std::size_t* sizes, std::size_t count, cudaMemLocation* places,
    std::size_t* starts, std::size_t place_count, unsigned long long flags, cudaStream_t stream) {
  return prefetch_batch({pointers, sizes, count, flags, stream, true}, places, starts, place_count);
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation place) {
  return call([&](state& s) { return advise(s, pointer, bytes, number_of(advice), place); });
}

cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t data_bytes,
                                     cudaMemRangeAttribute attribute, const void* pointer,
                                     std::size_t bytes) {
  return call([&](state& s) {
    return range_attribute(s, data, data_bytes, number_of(attribute), pointer, bytes);
  });
}

cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes,
                                      cudaMemRangeAttribute* attributes, std::size_t count,
                                      const void* pointer, std::size_t bytes) {
  return call([&](state& s) {
    if (!data || !data_bytes || !attributes || count == 0) {
      return invalid_value("cudaMemRangeGetAttributes: no attributes");
    }
    status known;
    for (std::size_t i = 0; i < count && known.ok(); i++) {
      known = range_attribute(s, data[i], data_bytes[i], number_of(attributes[i]), pointer, bytes);
    }
    return known;
  });
}
