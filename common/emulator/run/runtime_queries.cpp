// The runtime calls in kernels that only query, and those that use the heap.
#include <cstring>

#include "common/device/occupancy.hpp"
#include "common/emulator/run/lane_call.hpp"

namespace stepwise::emulator {
namespace {

constexpr int runtime_version = 13000;

// cudaFuncAttributes of CUDA 13.
struct function_attributes {
  std::uint64_t shared_bytes, constant_bytes, local_bytes;
  std::int32_t max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared,
      carveout, others[23];
};
static_assert(sizeof(function_attributes) == 144);

}  // namespace

error grid_launches::query(lane_call& c, runtime_function which) {
  const auto give = [&](const auto& value) {
    return c.write(c.value(0), &value, sizeof value) ? error::success : error::invalid_value;
  };
  const gpu& model = runtime_.model;
  switch (which) {
    case runtime_function::get_attribute: {
      if (c.value(2, 4) != 0) return error::invalid_device;
      const auto found = model.attributes.find(static_cast<int>(c.value(1, 4)));
      if (found == model.attributes.end()) return error::invalid_value;
      return give(std::int32_t{found->second});
    }
    case runtime_function::get_limit: {
      const std::uint64_t number = c.value(1, 4);
      if (number <= static_cast<std::uint64_t>(device_limit::heap_bytes))
        return give(runtime_.limit(static_cast<device_limit>(number)));
      const auto found = model.limits.find(static_cast<int>(number));
      return found == model.limits.end() ? error::unsupported_limit : give(found->second);
    }
    case runtime_function::get_cache_config:
      return give(std::int32_t{0});  // cudaFuncCachePreferNone
    case runtime_function::get_shared_config:
      return give(std::int32_t{1});  // cudaSharedMemBankSizeFourByte
    case runtime_function::get_device_count:
      return give(std::int32_t{1});
    case runtime_function::get_device:
      return give(std::int32_t{0});
    case runtime_function::get_version:
      return give(std::int32_t{runtime_version});
    case runtime_function::get_function_attributes: {
      const loaded_kernel* k = kernel_at(c.value(1));
      if (k == nullptr) return error::invalid_device_function;
      function_attributes a;
      std::memset(&a, 0, sizeof a);
      a.shared_bytes = k->attributes.static_shared_bytes;
      a.constant_bytes = k->attributes.constant_bytes;
      a.local_bytes = k->attributes.local_bytes;
      a.max_threads = k->attributes.max_threads_per_block;
      a.registers = k->attributes.registers;
      a.ptx_version = k->attributes.ptx_version;
      a.binary_version = k->attributes.binary_version;
      a.max_dynamic_shared = static_cast<std::int32_t>(k->attributes.max_dynamic_shared_bytes);
      a.carveout = -1;
      return give(a);
    }
    case runtime_function::get_occupancy: {
      const loaded_kernel* k = kernel_at(c.value(1));
      if (k == nullptr) return error::invalid_device_function;
      const auto threads = static_cast<std::int32_t>(c.value(2, 4));
      if (threads <= 0) return error::invalid_value;
      const auto fits =
          resident_blocks(model, k->attributes, static_cast<std::uint64_t>(threads), c.value(3));
      return give(std::int32_t{fits.ok() ? fits->blocks : 0});
    }
    case runtime_function::malloc: {
      const std::uint64_t bytes = c.value(1);
      const std::uint64_t at = bytes == 0 ? 0 : runtime_.library.take(bytes);
      if (const error e = give(at); e != error::success) return e;
      if (at == 0) return bytes == 0 ? error::success : error::memory_allocation;
      if (c.x.watch != nullptr) c.x.watch->heap_gave(c.event(), c.lane, at, bytes);
      return error::success;
    }
    default: {  // free
      const std::uint64_t at = c.value(0);
      if (at == 0) return error::success;
      const bool is_known = runtime_.library.give_back(at);
      if (c.x.watch != nullptr) c.x.watch->heap_got(c.event(), c.lane, at, is_known);
      return is_known ? error::success : error::invalid_value;
    }
  }
}

}  // namespace stepwise::emulator
