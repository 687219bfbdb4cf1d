// cudaGetDriverEntryPoint*, and the driver functions that the runtime itself has (tensor_maps.hpp).
#include <atomic>
#include <string_view>

#include "common/device/tensor_map.hpp"
#include "common/runtime/api/api.hpp"
#include "common/runtime/api/tensor_maps.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

std::atomic<driver_lookup> lookup_in_driver{nullptr};

// A map in our format suits only emulated devices. These are the devices that know the range of
// their addresses; a device in another process reports its range.
status check_has_maps(const state& s) {
  auto* const addresses = s.current->extras().addresses;
  if (addresses != nullptr && addresses->address_range()[1] != 0) return {};
  return {error::not_supported, "a tensor map for a GPU in another process is not supported"};
}

// Runs `body(tensor_map&) -> status` for a map of the program, which an error leaves unchanged.
template <class Body>
status change_map(CUtensorMap* map, Body&& body) {
  if (map == nullptr || address_of(map) % tensor_map_alignment != 0)
    return invalid_value("the tensor map is null, or not at a multiple of 64 bytes");
  tensor_map record;
  std::memcpy(&record, reinterpret_cast<const std::byte*>(map), sizeof record);
  status outcome = body(record);
  if (outcome.ok()) std::memcpy(map, &record, sizeof record);
  return outcome;
}

// The same as this driver function, which announces why it fails.
template <class Body>
CUresult with_map(const char* function, CUtensorMap* map, Body&& body) {
  const driver_call scope(function);
  const cudaError_t code = call([&](state& s) {
    status outcome = check_has_maps(s);
    if (outcome.ok()) outcome = change_map(map, body);
    announce_mistake(function, outcome);
    if (outcome.code == error::not_supported) announce(outcome.message);
    return outcome;
  });
  return static_cast<CUresult>(code);
}

struct entry {
  std::string_view name;
  void* function;
};

// The functions that need no libcuda.so.1. All of them appeared in CUDA 12.0.
constexpr unsigned since_version = 12000;
const entry* find_own(std::string_view name) {
  static const entry own[] = {
      {"cuTensorMapEncodeTiled", reinterpret_cast<void*>(&encode_tiled_map)},
      {"cuTensorMapReplaceAddress", reinterpret_cast<void*>(&replace_map_address)},
  };
  for (const entry& e : own)
    if (e.name == name) return &e;
  return nullptr;
}

struct found_function {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult outcome = cudaDriverEntryPointSymbolNotFound;
};

// Called without the lock, because it may wait for the dynamic linker.
found_function find_function(const char* name, unsigned version, bool per_thread) {
  if (const entry* own = find_own(name)) {
    if (version < since_version) return {nullptr, cudaDriverEntryPointVersionNotSufficent};
    return {own->function, cudaDriverEntryPointSuccess};
  }
  found_function found;
  if (const driver_lookup lookup = lookup_in_driver)
    lookup(name, &found.function, static_cast<int>(version),
           per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                      : CU_GET_PROC_ADDRESS_LEGACY_STREAM,
           nullptr);
  if (found.function != nullptr)
    found.outcome = cudaDriverEntryPointSuccess;
  else
    announce(std::string("the driver function ") + name + " was not found" +
             (lookup_in_driver ? "" : ": no libcuda.so.1 of this project is loaded"));
  return found;
}

struct entry_point_request {
  const char* name;
  void** function;
  unsigned version;
  unsigned long long flags;
  cudaDriverEntryPointQueryResult* outcome;
};

cudaError_t find_entry_point(const entry_point_request& r,
                             std::source_location at = std::source_location::current()) {
  const cudaError_t checked = call(
      [&](state& s) {
        if (!r.name || !r.function) return invalid_value("cudaGetDriverEntryPoint: a null pointer");
        if (r.flags > cudaEnablePerThreadDefaultStream)
          return invalid_value("cudaGetDriverEntryPoint: there is no such flag");
        if (r.version > static_cast<unsigned>(s.current->description().driver_version))
          return invalid_value("cudaGetDriverEntryPoint: the version is newer than the driver");
        return status{};
      },
      at);
  if (checked != cudaSuccess) return checked;
  const bool per_thread = r.flags == cudaEnablePerThreadDefaultStream ||
                          (r.flags == cudaEnableDefault && own_stream_call::made);
  const found_function found = find_function(r.name, r.version, per_thread);
  *r.function = found.function;
  if (r.outcome) *r.outcome = found.outcome;
  return cudaSuccess;
}

}  // namespace

namespace stepwise::runtime {

void provide_driver_functions(driver_lookup lookup) { lookup_in_driver = lookup; }

CUresult encode_tiled_map(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                          void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                          const cuuint32_t* box, const cuuint32_t* element_strides,
                          CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                          CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return with_map("cuTensorMapEncodeTiled", map, [&](tensor_map& record) {
    return encode_tiled(
        {number_of(type), rank, address_of(address), sizes, strides, box, element_strides,
         number_of(interleave), number_of(swizzle), number_of(promotion), number_of(fill)},
        record);
  });
}

CUresult replace_map_address(CUtensorMap* map, void* address) {
  return with_map("cuTensorMapReplaceAddress", map,
                  [&](tensor_map& record) { return replace_address(record, address_of(address)); });
}

}  // namespace stepwise::runtime

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* outcome) {
  return find_entry_point({name, function, version, flags, outcome});
}
STEPWISE_OWN_STREAM(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion,
                    (const char* name, void** function, unsigned version, unsigned long long flags,
                     cudaDriverEntryPointQueryResult* outcome),
                    name, function, version, flags, outcome)

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* outcome) {
  return find_entry_point({name, function, CUDART_VERSION, flags, outcome});
}
// Not by STEPWISE_OWN_STREAM: CUDA's header calls the function deprecated.
STEPWISE_EXPORT cudaError_t cudaGetDriverEntryPoint_ptsz(const char* name, void** function,
                                                         unsigned long long flags,
                                                         cudaDriverEntryPointQueryResult* outcome) {
  const own_stream_call here;
  return find_entry_point({name, function, CUDART_VERSION, flags, outcome});
}
