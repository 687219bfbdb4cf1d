// Calls about the only device: number, properties, limits, flags and reset.
#include <algorithm>
#include <cstring>

#include "common/runtime/api/api.hpp"
#include "common/runtime/api/capturing.hpp"
#include "common/runtime/properties.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

status check_device(int number) {
  if (number == 0) return {};
  return {error::invalid_device,
          "there is no device " + std::to_string(number) + "; this runtime has one, number 0"};
}

// Runs `body` for device `number`.
template <class Body>
cudaError_t with_device(int number, Body&& body) {
  return call_even_lost([&](state& s) {
    status known = check_device(number);
    return known.ok() ? body(s) : known;
  });
}

constexpr unsigned known_device_flags = cudaDeviceMask;

// The limits that the device implements. All other limits are stored but have no effect.
std::optional<device_limit> limit_of_device(int limit) {
  static_assert(int(device_limit::stack_bytes) == cudaLimitStackSize &&
                int(device_limit::printf_bytes) == cudaLimitPrintfFifoSize &&
                int(device_limit::heap_bytes) == cudaLimitMallocHeapSize);
  if (limit < cudaLimitStackSize || limit > cudaLimitMallocHeapSize) return std::nullopt;
  return static_cast<device_limit>(limit);
}

// The value of a limit that the program may have set, or unsupported_limit.
result<std::size_t> limit_of(const state& s, int limit) {
  if (const auto which = limit_of_device(limit)) return std::size_t{s.current->limit(*which)};
  if (const auto set = s.limits.find(limit); set != s.limits.end()) return set->second;
  const auto& known = s.current->description().limits;
  const auto found = known.find(limit);
  if (found == known.end()) {
    return {error::unsupported_limit, "there is no limit " + std::to_string(limit)};
  }
  return std::size_t{found->second};
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  return call_even_lost([&](state&) {
    if (!count) return invalid_value("cudaGetDeviceCount: the output pointer is null");
    *count = 1;
    return status{};
  });
}

cudaError_t cudaGetDevice(int* number) {
  return call_even_lost([&](state&) {
    if (!number) return invalid_value("cudaGetDevice: the output pointer is null");
    *number = 0;
    return status{};
  });
}

cudaError_t cudaSetDevice(int number) {
  // A lost device can still be selected, but not after a reset.
  return with_device(number, [](state& s) {
    return s.fault.code == error::devices_unavailable ? s.fault : status{};
  });
}

cudaError_t cudaInitDevice(int number, unsigned device_flags, unsigned flags) {
  return with_device(number, [&](state& s) {
    if (flags & cudaInitDeviceFlagsAreValid) s.device_flags = device_flags;
    return status{};
  });
}

cudaError_t cudaSetValidDevices(int* numbers, int count) {
  return call([&](state&) {
    if (!numbers && count != 0) return invalid_value("cudaSetValidDevices: no list");
    for (int i = 0; i < count; i++) {
      status known = check_device(numbers[i]);
      if (!known.ok()) return known;
    }
    return status{};
  });
}

cudaError_t cudaChooseDevice(int* number, const cudaDeviceProp* wanted) {
  return call([&](state&) {
    if (!number || !wanted) return invalid_value("cudaChooseDevice: a null pointer");
    *number = 0;
    return status{};
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call([&](state& s) {
    if (flags & ~known_device_flags) return invalid_value("cudaSetDeviceFlags: unknown flags");
    s.device_flags = flags;
    return status{};
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call([&](state& s) {
    if (!flags) return invalid_value("cudaGetDeviceFlags: the output pointer is null");
    *flags = s.device_flags | cudaDeviceMapHost;
    return status{};
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int number) {
  return with_device(number, [&](state& s) {
    if (!properties) return invalid_value("cudaGetDeviceProperties: the output pointer is null");
    *properties = properties_of(s.current->description());
    return status{};
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int number) {
  return with_device(number, [&](state& s) {
    if (!value) return invalid_value("cudaDeviceGetAttribute: the output pointer is null");
    const auto& attributes = s.current->description().attributes;
    const auto found = attributes.find(number_of(attribute));
    if (found == attributes.end()) {
      return invalid_value("there is no device attribute " + std::to_string(number_of(attribute)));
    }
    *value = found->second;
    return status{};
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([](state& s) {
    if (status now = check_nothing_captured(s); !now.ok()) return now;
    s.wait_for_all();
    host_waited_for_all(s);
    return s.settle();
  });
}

cudaError_t cudaDeviceReset() {
  return call_without_device([](state& s) {
    if (s.is_in_call)
      return status{error::not_permitted,
                    "the caller's arrays and events live on this device: only the caller may reset "
                    "it"};
    s.wait_for_all();
    if (s.current && s.fault.ok()) s.synchronize();
    s.reset();
    return status{};
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return call([&](state& s) {
    if (!value) return invalid_value("cudaDeviceGetLimit: the output pointer is null");
    constexpr unsigned driver_knows = 10;  // limits 0 to 9, of which 3 and 9 are unsupported
    const auto found = limit_of(s, number_of(limit));
    if (found.ok()) *value = *found;
    if (!found.ok() && static_cast<unsigned>(number_of(limit)) >= driver_knows)
      return invalid_value("cudaDeviceGetLimit: no such limit");
    return found.ok() ? status{} : found.failure();
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return call([&](state& s) {
    const auto known = limit_of(s, number_of(limit));
    // From compute capability 9.0 on, kernels cannot wait for the kernels that they launch.
    if (!known.ok() && number_of(limit) == cudaLimitDevRuntimeSyncDepth) return known.failure();
    if (!known.ok()) return invalid_value("cudaDeviceSetLimit: no such limit");
    if (const auto which = limit_of_device(number_of(limit))) {
      return s.current->set_limit(*which, value);
    }
    s.limits[number_of(limit)] = value;
    return status{};
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return call([&](state& s) {
    if (!config) return invalid_value("cudaDeviceGetCacheConfig: the output pointer is null");
    *config = static_cast<cudaFuncCache>(s.cache_config);
    return status{};
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return call([&](state& s) {
    s.cache_config = number_of(config);  // only a hint, on hardware too
    return status{};
  });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return call([](state&) { return status{}; });
}

// No other device writes to the device's memory, so there is nothing to flush.
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget,
                                               cudaFlushGPUDirectRDMAWritesScope) {
  return call([](state&) { return status{}; });
}

// Shared memory has had banks of one size since compute capability 5.0.
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return call([&](state&) {
    if (!config) return invalid_value("cudaDeviceGetSharedMemConfig: the output pointer is null");
    *config = cudaSharedMemBankSizeFourByte;
    return status{};
  });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return call([](state&) { return status{}; });
}

// This needs no device, because it only fills in a structure.
cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
