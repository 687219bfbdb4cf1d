// A device through the CUDA driver.
//
// idea    One context per device. The driver and the runtime use the same error numbers, so codes
//         pass unchanged.
// tests   tests/conformance.cpp, on a GPU (suite gpu)
#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <mutex>

#include "common/device/device.hpp"

#if __has_include(<cuda.h>)

#include "common/device/driver.hpp"
#include "common/device/launch_check.hpp"
#include "common/device/queue_gate.hpp"
#include "common/device/tensor_map.hpp"

namespace stepwise {
namespace {

status status_of(const driver& cu, CUresult code, const std::string& doing) {
  if (code == CUDA_SUCCESS) return {};
  const char* text = nullptr;
  cu.get_error_string(code, &text);
  return {static_cast<error>(code), doing + ": " + (text ? text : "unknown error")};
}

// Describes a GPU from the driver's attributes, as common/gpus/*.toml would.
gpu describe(const driver& cu, CUdevice device) {
  gpu model;
  char name[256] = "";
  cu.device_get_name(name, sizeof name, device);
  model.name = name;
  std::size_t bytes = 0;
  cu.device_total_mem(&bytes, device);
  model.memory_bytes = bytes;
  cu.driver_get_version(&model.driver_version);
  // The driver and the runtime use the same attribute numbers (see their headers).
  for (int number = 1; number < 256; number++) {
    int value = 0;
    if (cu.device_get_attribute(&value, static_cast<CUdevice_attribute>(number), device) ==
        CUDA_SUCCESS) {
      model.attributes[number] = value;
    }
  }
  fill_from_attributes(model);
  return model;
}

// Makes a context current for one call, on whichever thread it comes from.
class current_context {
 public:
  current_context(const driver& cu, CUcontext context) : cu_(cu) { cu_.ctx_push_current(context); }
  ~current_context() {
    CUcontext previous = nullptr;
    cu_.ctx_pop_current(&previous);
  }
  current_context(const current_context&) = delete;

 private:
  const driver& cu_;
};

class gpu_device final : public device, host_registration, launch_queue {
 public:
  gpu_device(const driver& cu, CUcontext context, gpu model)
      : cu_(cu), context_(context), model_(std::move(model)) {
    extras_ = {.registration = this, .queue = this};
  }
  ~gpu_device() override {
    if (gate_) {
      const current_context use(cu_, context_);
      gate_.reset();
    }
    cu_.ctx_destroy(context_);
  }

  const gpu& description() const override { return model_; }

  result<device_address> allocate(std::uint64_t bytes) override {
    const current_context use(cu_, context_);
    CUdeviceptr address = 0;
    const status s = status_of(cu_, cu_.mem_alloc(&address, bytes),
                               "allocating " + std::to_string(bytes) + " bytes");
    if (!s.ok()) return s;
    return device_address{address};
  }

  result<device_address> allocate_shared(std::uint64_t bytes) override {
    const current_context use(cu_, context_);
    CUdeviceptr address = 0;
    const status s = status_of(cu_, cu_.mem_alloc_managed(&address, bytes, CU_MEM_ATTACH_GLOBAL),
                               "allocating " + std::to_string(bytes) + " managed bytes");
    if (!s.ok()) return s;
    return device_address{address};
  }

  status free(device_address address) override {
    if (address == 0) return {};
    const current_context use(cu_, context_);
    return status_of(cu_, cu_.mem_free(address), "freeing device memory");
  }

  // With unified addressing, which every 64-bit GPU has, kernels use the host address.
  status register_host(std::span<std::byte> area) override {
    const current_context use(cu_, context_);
    return status_of(cu_,
                     cu_.mem_host_register(area.data(), area.size(), CU_MEMHOSTREGISTER_DEVICEMAP),
                     "registering host memory");
  }

  status unregister_host(std::byte* first) override {
    const current_context use(cu_, context_);
    return status_of(cu_, cu_.mem_host_unregister(first), "unregistering host memory");
  }

  std::array<std::uint64_t, 2> memory_info() override {
    const current_context use(cu_, context_);
    std::size_t free_bytes = 0, total_bytes = 0;
    cu_.mem_get_info(&free_bytes, &total_bytes);
    return {free_bytes, total_bytes};
  }

  std::optional<module_symbol> find_allocation(device_address address) override {
    const current_context use(cu_, context_);
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    if (cu_.mem_get_address_range(&base, &bytes, address) != CUDA_SUCCESS) return std::nullopt;
    unsigned managed = 0;
    (void)cu_.pointer_get_attribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
    return module_symbol{base, bytes, managed != 0};
  }

  status write(device_address to, std::span<const std::byte> from) override {
    status s = check_area(to, from.size(), "writing");
    if (!s.ok() || from.empty()) return s;
    const current_context use(cu_, context_);
    return status_of(cu_, cu_.memcpy_to_device(to, from.data(), from.size()),
                     "copying to the device");
  }

  status read(std::span<std::byte> to, device_address from) override {
    status s = check_area(from, to.size(), "reading");
    if (!s.ok() || to.empty()) return s;
    const current_context use(cu_, context_);
    return status_of(cu_, cu_.memcpy_to_host(to.data(), from, to.size()),
                     "copying from the device");
  }

  status copy(device_address to, device_address from, std::uint64_t bytes) override {
    status s = check_area(from, bytes, "copying from");
    if (s.ok()) s = check_area(to, bytes, "copying to");
    if (!s.ok() || bytes == 0) return s;
    const current_context use(cu_, context_);
    return status_of(cu_, cu_.memcpy_on_device(to, from, bytes), "copying on the device");
  }

  status fill(device_address to, std::uint32_t value, unsigned element_bytes,
              std::uint64_t count) override;
  result<module_handle> load_linked(std::span<const std::span<const std::byte>> parts) override;
  status unload_module(module_handle module) override;
  result<kernel_handle> find_kernel(module_handle module, std::string_view name) override;
  result<module_symbol> find_symbol(module_handle module, std::string_view name) override;
  result<kernel_attributes> attributes(kernel_handle kernel) override;
  status set_max_dynamic_shared_bytes(kernel_handle kernel, std::uint64_t bytes) override;
  status launch(kernel_handle kernel, const launch_config& config,
                std::span<const std::byte> parameters) override;

  status synchronize() override {
    const current_context use(cu_, context_);
    return status_of(cu_, cu_.ctx_synchronize(), "a kernel failed");
  }

  result<event_handle> create_event() override {
    const current_context use(cu_, context_);
    CUevent event = nullptr;
    const status s =
        status_of(cu_, cu_.event_create(&event, CU_EVENT_DEFAULT), "creating an event");
    if (!s.ok()) return s;
    const std::lock_guard guard(lock_);
    events_[++last_handle_] = event;
    return event_handle{last_handle_};
  }

  status destroy_event(event_handle event) override {
    const current_context use(cu_, context_);
    const CUevent found = event_of(event);
    if (!found) return unknown_event();
    {
      const std::lock_guard guard(lock_);
      events_.erase(static_cast<std::uint64_t>(event));
    }
    return status_of(cu_, cu_.event_destroy(found), "destroying an event");
  }

  status record(event_handle event) override {
    const current_context use(cu_, context_);
    const CUevent found = event_of(event);
    if (!found) return unknown_event();
    return status_of(cu_, cu_.event_record(found, nullptr), "recording an event");
  }

  result<float> elapsed_ms(event_handle start, event_handle stop) override {
    const current_context use(cu_, context_);
    const CUevent first = event_of(start), second = event_of(stop);
    if (!first || !second) return unknown_event();
    float ms = 0;
    const status s =
        status_of(cu_, cu_.event_elapsed_time(&ms, first, second), "the time between two events");
    if (!s.ok()) return s;
    return ms;
  }

  result<opaque_tensor_map> encode_tensor_map(const tensor_map_request& request) override;
  result<opaque_tensor_map> with_address(const opaque_tensor_map& map,
                                         device_address address) override;

  void reset_persisting_lines() override {
    const current_context use(cu_, context_);
    (void)cu_.ctx_reset_persisting_lines();
  }

  void hold_queue() override {
    const current_context use(cu_, context_);
    if (!gate_) gate_ = std::make_unique<queue_gate>(cu_);
    gate_->close();
  }

  void release_queue() override {
    if (gate_) gate_->open();
  }

  // The driver uses the same limit numbers.
  status set_limit(device_limit which, std::uint64_t bytes) override {
    const current_context use(cu_, context_);
    return status_of(cu_, cu_.ctx_set_limit(static_cast<CUlimit>(which), bytes),
                     "setting a limit to " + std::to_string(bytes) + " bytes");
  }

  std::uint64_t limit(device_limit which) override {
    const current_context use(cu_, context_);
    std::size_t bytes = 0;
    return cu_.ctx_get_limit(&bytes, static_cast<CUlimit>(which)) == CUDA_SUCCESS ? bytes : 0;
  }

 private:
  struct loaded_kernel {
    CUfunction function = nullptr;
    kernel_attributes attributes;
  };

  static status unknown_event() {
    return {error::invalid_resource_handle, "there is no such event"};
  }
  static status unknown_kernel() {
    return {error::invalid_resource_handle, "there is no such kernel"};
  }
  static status unknown_module() {
    return {error::invalid_resource_handle, "there is no such module"};
  }

  // The driver lets a copy run into the next allocation, but `device` does not.
  status check_area(device_address address, std::uint64_t bytes, const char* doing) {
    if (bytes == 0) return {};
    const auto area = find_allocation(address);
    if (area && bytes <= area->bytes - (address - area->address)) return {};
    // A lost context answers no queries. Return the fault instead of blaming the address.
    if (const status lost = synchronize(); !lost.ok()) return lost;
    return {error::invalid_value, std::string(doing) + " " + std::to_string(bytes) +
                                      " bytes of device memory that are not in any allocation"};
  }

  template <class Map>
  auto lookup(Map& map, std::uint64_t handle) -> decltype(&map.begin()->second) {
    const std::lock_guard guard(lock_);
    const auto found = map.find(handle);
    return found == map.end() ? nullptr : &found->second;
  }
  CUevent event_of(event_handle event) {
    const CUevent* found = lookup(events_, static_cast<std::uint64_t>(event));
    return found ? *found : nullptr;
  }
  CUmodule module_of(module_handle module) {
    const CUmodule* found = lookup(modules_, static_cast<std::uint64_t>(module));
    return found ? *found : nullptr;
  }
  loaded_kernel* kernel_of(kernel_handle kernel) {
    return lookup(kernels_, static_cast<std::uint64_t>(kernel));
  }

  const driver& cu_;
  const CUcontext context_;
  std::unique_ptr<queue_gate> gate_;
  const gpu model_;
  std::mutex lock_;  // guards the members below
  std::uint64_t last_handle_ = 0;
  std::map<std::uint64_t, CUmodule> modules_;
  std::map<std::uint64_t, loaded_kernel> kernels_;
  std::map<std::uint64_t, CUevent> events_;
};

status gpu_device::fill(device_address to, std::uint32_t value, unsigned element_bytes,
                        std::uint64_t count) {
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4) {
    return {error::invalid_value, "cannot fill elements of " + std::to_string(element_bytes) +
                                      " bytes: use 1, 2 or 4 bytes"};
  }
  if (count > UINT64_MAX / element_bytes) {
    return {error::invalid_value, "filling more bytes than the address space has"};
  }
  status s = check_area(to, count * element_bytes, "filling");
  if (!s.ok() || count == 0) return s;
  const current_context use(cu_, context_);
  const CUresult code =
      element_bytes == 1   ? cu_.memset_8(to, static_cast<unsigned char>(value), count)
      : element_bytes == 2 ? cu_.memset_16(to, static_cast<unsigned short>(value), count)
                           : cu_.memset_32(to, value, count);
  return status_of(cu_, code, "filling device memory");
}

result<module_handle> gpu_device::load_linked(std::span<const std::span<const std::byte>> parts) {
  if (parts.size() != 1)
    return {error::not_supported, "modules of several parts cannot be linked for a GPU"};
  const std::span<const std::byte> image = parts[0];
  const current_context use(cu_, context_);
  // The driver needs zero-terminated PTX, but load_linked() does not require that.
  std::vector<char> bytes(image.size() + 1, '\0');
  std::copy_n(reinterpret_cast<const char*>(image.data()), image.size(), bytes.begin());
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  status s = status_of(cu_, cu_.module_load_data(&module, bytes.data(), 2, options, values),
                       "loading a module");
  if (!s.ok()) {
    if (log[0]) s.message += std::string("; ") + log;
    return s;
  }
  const std::lock_guard guard(lock_);
  modules_[++last_handle_] = module;
  return module_handle{last_handle_};
}

status gpu_device::unload_module(module_handle module) {
  const current_context use(cu_, context_);
  const CUmodule found = module_of(module);
  if (!found) return unknown_module();
  {
    const std::lock_guard guard(lock_);
    modules_.erase(static_cast<std::uint64_t>(module));
  }
  return status_of(cu_, cu_.module_unload(found), "unloading a module");
}

result<kernel_handle> gpu_device::find_kernel(module_handle module, std::string_view name) {
  const current_context use(cu_, context_);
  const CUmodule found = module_of(module);
  if (!found) return unknown_module();
  const std::string text(name);
  CUfunction function = nullptr;
  status s =
      status_of(cu_, cu_.module_get_function(&function, found, text.c_str()), "kernel " + text);
  if (!s.ok()) return s;

  loaded_kernel kernel{function, {}};
  kernel_attributes& a = kernel.attributes;
  const auto get = [&](CUfunction_attribute which) {
    int value = 0;
    const CUresult code = cu_.func_get_attribute(&value, which, function);
    if (s.ok()) s = status_of(cu_, code, "the attributes of kernel " + text);
    return value;
  };
  const auto get_bytes = [&](CUfunction_attribute which) {
    return static_cast<std::uint64_t>(get(which));
  };
  a.name = text;
  a.registers = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
  a.static_shared_bytes = get_bytes(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  a.local_bytes = get_bytes(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  a.constant_bytes = get_bytes(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  a.max_threads_per_block = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  a.ptx_version = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
  a.binary_version = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  a.max_dynamic_shared_bytes = get_bytes(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  if (get(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET) != 0) {
    const auto side = [&](CUfunction_attribute which) {
      return static_cast<std::uint32_t>(get(which));
    };
    a.required_cluster = {side(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH),
                          side(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
                          side(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)};
  }
  if (!s.ok()) return s;
  std::size_t offset = 0, bytes = 0;
  while (cu_.func_get_param_info(function, a.parameters.size(), &offset, &bytes) == CUDA_SUCCESS) {
    a.parameters.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)});
  }
  const std::lock_guard guard(lock_);
  kernels_[++last_handle_] = std::move(kernel);
  return kernel_handle{last_handle_};
}

result<module_symbol> gpu_device::find_symbol(module_handle module, std::string_view name) {
  const current_context use(cu_, context_);
  const CUmodule found = module_of(module);
  if (!found) return unknown_module();
  const std::string text(name);
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  status s = status_of(cu_, cu_.module_get_global(&address, &bytes, found, text.c_str()),
                       "variable " + text);
  // The driver returns invalid_value for the name of a kernel.
  if (s.code == error::invalid_value) s.code = error::symbol_not_found;
  if (!s.ok()) return s;
  unsigned managed = 0;
  (void)cu_.pointer_get_attribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
  return module_symbol{address, bytes, managed != 0};
}

result<kernel_attributes> gpu_device::attributes(kernel_handle kernel) {
  const loaded_kernel* found = kernel_of(kernel);
  if (!found) return unknown_kernel();
  return found->attributes;
}

status gpu_device::set_max_dynamic_shared_bytes(kernel_handle kernel, std::uint64_t bytes) {
  const current_context use(cu_, context_);
  loaded_kernel* found = kernel_of(kernel);
  if (!found) return unknown_kernel();
  kernel_attributes& a = found->attributes;
  if (bytes + a.static_shared_bytes > model_.shared_bytes_per_block_optin || bytes > INT32_MAX) {
    return {error::invalid_value, a.name + ": " + std::to_string(bytes) +
                                      " bytes of dynamic shared memory: " +
                                      std::to_string(model_.shared_bytes_per_block_optin) +
                                      " per block are possible, including static memory"};
  }
  const status s = status_of(
      cu_,
      cu_.func_set_attribute(found->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             static_cast<int>(bytes)),
      "allowing dynamic shared memory");
  if (s.ok()) a.max_dynamic_shared_bytes = bytes;
  return s;
}

status gpu_device::launch(kernel_handle kernel, const launch_config& config,
                          std::span<const std::byte> parameters) {
  const current_context use(cu_, context_);
  const loaded_kernel* found = kernel_of(kernel);
  if (!found) return unknown_kernel();
  const kernel_attributes& a = found->attributes;
  if (status s = check_launch(model_, a, config); !s.ok()) return s;
  std::vector<void*> arguments;
  for (const kernel_parameter& p : a.parameters) {
    if (p.offset > parameters.size() || p.bytes > parameters.size() - p.offset) {
      return {error::invalid_value, a.name + ": " + std::to_string(parameters.size()) +
                                        " bytes of parameters are too few"};
    }
    arguments.push_back(const_cast<std::byte*>(parameters.data()) + p.offset);
  }
  std::vector<CUlaunchAttribute> wanted;
  if (config.cooperative) {
    CUlaunchAttribute& cooperative = wanted.emplace_back();
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
  }
  if (config.cluster != no_cluster) {
    CUlaunchAttribute& cluster = wanted.emplace_back();
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {config.cluster.x, config.cluster.y, config.cluster.z};
  }
  if (config.allows_large_cluster) {
    const status s =
        status_of(cu_,
                  cu_.func_set_attribute(found->function,
                                         CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
                  "allowing large clusters");
    if (!s.ok()) return s;
  }
  CUlaunchConfig c{};
  c.gridDimX = config.grid.x, c.gridDimY = config.grid.y, c.gridDimZ = config.grid.z;
  c.blockDimX = config.block.x, c.blockDimY = config.block.y, c.blockDimZ = config.block.z;
  c.sharedMemBytes = static_cast<unsigned>(config.dynamic_shared_bytes);
  c.attrs = wanted.data();
  c.numAttrs = static_cast<unsigned>(wanted.size());
  return status_of(cu_, cu_.launch_kernel(&c, found->function, arguments.data(), nullptr),
                   "launching " + a.name);
}

// The driver does not say which rule a request breaks, so the message comes from our own rules.
result<opaque_tensor_map> gpu_device::encode_tensor_map(const tensor_map_request& r) {
  const auto ours = encode_map(r);
  const status broken = ours.ok() ? status{} : ours.failure();
  if (r.rank > most_tensor_dimensions) return broken;  // the driver would read past the arrays
  const current_context use(cu_, context_);
  CUtensorMap map{};
  const auto type = static_cast<CUtensorMapDataType>(r.type);
  const auto interleave = static_cast<CUtensorMapInterleave>(r.interleave);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(r.swizzle);
  const auto promotion = static_cast<CUtensorMapL2promotion>(r.promotion);
  const auto fill = static_cast<CUtensorMapFloatOOBfill>(r.fill);
  auto* const address = reinterpret_cast<void*>(r.address);
  const CUresult code =
      r.is_im2col ? cu_.tensor_map_encode_im2col(&map, type, r.rank, address, r.sizes.data(),
                                                 r.strides.data(), r.lower.data(), r.upper.data(),
                                                 r.box[0], r.box[1], r.element_strides.data(),
                                                 interleave, swizzle, promotion, fill)
                  : cu_.tensor_map_encode_tiled(
                        &map, type, r.rank, address, r.sizes.data(), r.strides.data(), r.box.data(),
                        r.element_strides.data(), interleave, swizzle, promotion, fill);
  const status made = status_of(cu_, code, "encoding a tensor map");
  if (made.ok()) return std::bit_cast<opaque_tensor_map>(map);
  return made.code == broken.code ? broken : made;
}

result<opaque_tensor_map> gpu_device::with_address(const opaque_tensor_map& map,
                                                   device_address address) {
  const current_context use(cu_, context_);
  auto moved = std::bit_cast<CUtensorMap>(map);
  const status s =
      status_of(cu_, cu_.tensor_map_replace_address(&moved, reinterpret_cast<void*>(address)),
                "replacing the address of a tensor map");
  if (!s.ok()) return s;
  return std::bit_cast<opaque_tensor_map>(moved);
}

}  // namespace

std::unique_ptr<device> make_gpu_device(int ordinal, std::string& why) {
  const driver* cu = driver::find(why);
  if (!cu) return nullptr;
  CUdevice number = 0;
  status s = status_of(*cu, cu->device_get(&number, ordinal),
                       "there is no GPU number " + std::to_string(ordinal));
  CUcontext context = nullptr;
  if (s.ok()) {
    // Creating a context makes it current. We pop it, because each call pushes it.
    s = status_of(*cu, cu->ctx_create(&context, CU_CTX_SCHED_AUTO, number),
                  "GPU number " + std::to_string(ordinal) + " cannot be used");
  }
  if (!s.ok()) {
    why = s.message;
    return nullptr;
  }
  CUcontext previous = nullptr;
  cu->ctx_pop_current(&previous);
  return std::make_unique<gpu_device>(*cu, context, describe(*cu, number));
}

}  // namespace stepwise

#else

namespace stepwise {

std::unique_ptr<device> make_gpu_device(int, std::string& why) {
  why = "the program was built without the CUDA toolkit's cuda.h, so it cannot use a GPU";
  return nullptr;
}

}  // namespace stepwise

#endif
