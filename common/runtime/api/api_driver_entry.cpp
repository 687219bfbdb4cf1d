// cudaGetDriverEntryPoint*, and the driver functions that the runtime itself has (tensor_maps.hpp).
#include <algorithm>
#include <atomic>
#include <string_view>

#include "common/device/tensor_map.hpp"
#include "common/runtime/api/api.hpp"
#include "common/runtime/api/tensor_maps.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

std::atomic<driver_lookup> lookup_in_driver{nullptr};

// Stores the result of `make(device&) -> result<opaque_tensor_map>` in `map`. An error leaves the
// map unchanged.
template <class Make>
status change_map(state& s, CUtensorMap* map, Make&& make) {
  if (map == nullptr || address_of(map) % tensor_map_alignment != 0)
    return invalid_value("the tensor map is null, or not at a multiple of 64 bytes");
  const result<opaque_tensor_map> made = make(*s.current);
  if (!made.ok()) return made.failure();
  static_assert(sizeof *map == sizeof *made);
  std::memcpy(map, &*made, sizeof *made);
  return {};
}

// Calls change_map() for the driver function `function`, and announces why it fails.
template <class Make>
CUresult with_map(const char* function, CUtensorMap* map, Make&& make) {
  const driver_call scope(function);
  const cudaError_t code = call([&](state& s) {
    const status outcome = change_map(s, map, make);
    announce_mistake(function, outcome);
    if (outcome.code == error::not_supported) announce(outcome.message);
    return outcome;
  });
  return static_cast<CUresult>(code);
}

// The arguments that tile mode and im2col mode share.
struct map_arguments {
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t *sizes, *strides;
  const cuuint32_t* element_strides;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

status null_array() { return invalid_value("an array is null"); }

// The driver requires an array of strides even for one dimension.
result<tensor_map_request> map_request_of(const map_arguments& a) {
  if (!a.sizes || !a.strides || !a.element_strides) return null_array();
  tensor_map_request request{.type = number_of(a.type),
                             .rank = a.rank,
                             .address = address_of(a.address),
                             .interleave = number_of(a.interleave),
                             .swizzle = number_of(a.swizzle),
                             .promotion = number_of(a.promotion),
                             .fill = number_of(a.fill)};
  const unsigned dimensions = std::clamp(a.rank, 1u, most_tensor_dimensions);
  std::copy_n(a.sizes, dimensions, request.sizes.begin());
  std::copy_n(a.strides, dimensions - 1, request.strides.begin());
  std::copy_n(a.element_strides, dimensions, request.element_strides.begin());
  return request;
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
      {"cuTensorMapEncodeIm2col", reinterpret_cast<void*>(&encode_im2col_map)},
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
  return with_map("cuTensorMapEncodeTiled", map, [&](device& on) -> result<opaque_tensor_map> {
    if (box == nullptr) return null_array();
    auto request = map_request_of({type, rank, address, sizes, strides, element_strides, interleave,
                                   swizzle, promotion, fill});
    if (!request.ok()) return request.failure();
    std::copy_n(box, std::min(rank, most_tensor_dimensions), request->box.begin());
    return on.encode_tensor_map(*request);
  });
}

CUresult encode_im2col_map(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                           void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                           const int* lower, const int* upper, cuuint32_t channels,
                           cuuint32_t pixels, const cuuint32_t* element_strides,
                           CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                           CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return with_map("cuTensorMapEncodeIm2col", map, [&](device& on) -> result<opaque_tensor_map> {
    if (!lower || !upper) return null_array();
    auto request = map_request_of({type, rank, address, sizes, strides, element_strides, interleave,
                                   swizzle, promotion, fill});
    if (!request.ok()) return request.failure();
    request->is_im2col = true;
    const unsigned corners = std::clamp(rank, 2u, most_tensor_dimensions) - 2;
    std::copy_n(lower, corners, request->lower.begin());
    std::copy_n(upper, corners, request->upper.begin());
    request->box[0] = channels;
    request->box[1] = pixels;
    return on.encode_tensor_map(*request);
  });
}

CUresult replace_map_address(CUtensorMap* map, void* address) {
  return with_map("cuTensorMapReplaceAddress", map, [&](device& on) {
    opaque_tensor_map before;
    std::memcpy(&before, map, sizeof before);
    return on.with_address(before, address_of(address));
  });
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
