// Notes modules, loads them at first use, and finds kernels and variables by host address.
#include "common/runtime/registry.hpp"

#include <algorithm>
#include <cstring>

#include "common/device/names.hpp"
#include "common/image/image.hpp"
#include "common/runtime/mapped.hpp"

namespace stepwise::runtime {
namespace {

constexpr std::uint64_t container_header_bytes = 16;  // read by container_bytes()

}  // namespace

result<std::vector<std::span<const std::byte>>> wrapped_parts(const fat_binary_wrapper& wrapper) {
  if (wrapper.magic != fat_binary_magic) {
    return {error::invalid_kernel_image,
            "the program's fat binary is damaged: its wrapper lacks the magic number. Rebuild the "
            "program"};
  }
  if (wrapper.version != 1 && wrapper.version != 2) {
    return {error::no_kernel_image_for_device, "the program's fat binary has version " +
                                                   std::to_string(wrapper.version) +
                                                   "; only versions 1 and 2 are supported"};
  }
  std::vector<const void*> containers;
  if (wrapper.container) containers.push_back(wrapper.container);
  if (wrapper.version == 2 && wrapper.linked) {
    for (const void* const* part = wrapper.linked; *part; part++) containers.push_back(*part);
  }
  if (containers.empty()) return {error::symbol_not_found, "the program's fat binary is empty"};
  std::vector<std::span<const std::byte>> parts;
  for (const void* container : containers) {
    const std::uint64_t mapped = mapped_bytes(container);
    const auto bytes =
        mapped < container_header_bytes ? std::nullopt : image::container_bytes(container);
    if (!bytes) {
      return {error::invalid_kernel_image,
              "the program's fat binary is damaged: it does not start with the magic number. "
              "Rebuild the program"};
    }
    parts.emplace_back(static_cast<const std::byte*>(container), std::min(*bytes, mapped));
  }
  return parts;
}

result<std::vector<std::span<const std::byte>>> module_parts(const void* code) {
  fat_binary_wrapper wrapper;
  std::memcpy(&wrapper.magic, code, sizeof wrapper.magic);
  if (wrapper.magic == fat_binary_magic) {
    std::memcpy(&wrapper, code, sizeof wrapper);
    return wrapped_parts(wrapper);
  }
  const auto* const first = static_cast<const std::byte*>(code);
  const std::uint64_t mapped = mapped_bytes(code);
  const auto container =
      mapped < container_header_bytes ? std::nullopt : image::container_bytes(code);
  const std::uint64_t bytes =
      container ? std::min(*container, mapped) : strnlen(static_cast<const char*>(code), mapped);
  return std::vector<std::span<const std::byte>>{{first, bytes}};
}

void registered_module::load(device& on) {
  if (tried_) return;
  tried_ = true;
  failure_ = {};
  const auto parts = wrapped_parts(*wrapper_);
  const auto loaded = parts.ok() ? on.load_linked(*parts) : result<module_handle>(parts.failure());
  if (loaded.ok())
    handle_ = *loaded;
  else
    failure_ = loaded.failure();
}

result<kernel_handle> registered_module::find_kernel(device& on, const std::string& name) {
  load(on);
  if (!handle_) return failure_;
  return on.find_kernel(*handle_, name);
}

result<module_symbol> registered_module::find_symbol(device& on, const std::string& name) {
  load(on);
  if (!handle_) return failure_;
  return on.find_symbol(*handle_, name);
}

status registered_module::place_managed(device& on) {
  for (managed_variable& v : managed_) {
    if (v.address != 0) continue;
    const auto symbol = find_symbol(on, v.name);
    if (!symbol.ok()) return symbol.failure();
    v.address = symbol->address;
    *v.place = reinterpret_cast<void*>(symbol->address);
  }
  return {};
}

const std::string* registered_module::managed_at(const void* address) const {
  for (const managed_variable& v : managed_) {
    if (address && *v.place == address) return &v.name;
  }
  return nullptr;
}

void registered_module::unload(device& from) {
  if (handle_) from.unload_module(*handle_);
  forget();
}

void registered_module::forget() {
  handle_.reset();
  tried_ = false;
  for (managed_variable& v : managed_) v.address = 0;
}

registered_module* registry::add_module(const fat_binary_wrapper* wrapper) {
  return modules_.emplace_back(std::make_unique<registered_module>(wrapper)).get();
}

void registry::add_kernel(registered_module* module, const void* host_function, const char* name) {
  auto kernel = std::make_unique<registered_kernel>();
  kernel->module = module;
  kernel->name = name;
  std::unique_ptr<registered_kernel>& place = kernels_[host_function];
  if (place) handles_.erase(place.get());
  place = std::move(kernel);
  handles_[place.get()] = place.get();
}

void registry::add_variable(registered_module* module, const void* host_variable,
                            const char* name) {
  variables_[host_variable] = {module, name};
}

void registry::remove_module(registered_module* module, device* on) {
  if (on) module->unload(*on);
  std::erase_if(handles_, [&](const auto& entry) { return entry.second->module == module; });
  std::erase_if(kernels_, [&](const auto& entry) { return entry.second->module == module; });
  std::erase_if(variables_, [&](const auto& entry) { return entry.second.module == module; });
  std::erase_if(modules_, [&](const auto& entry) { return entry.get() == module; });
}

registered_kernel* registry::find_kernel(const void* function) {
  if (const auto found = kernels_.find(function); found != kernels_.end()) {
    return found->second.get();
  }
  const auto found = handles_.find(function);
  return found == handles_.end() ? nullptr : found->second;
}

result<registered_kernel*> registry::use_kernel(device& on, const void* function) {
  registered_kernel* const kernel = find_kernel(function);
  if (!kernel) {
    return {error::invalid_device_function,
            "this function is not a kernel that the program registered"};
  }
  if (!kernel->handle) {
    const auto handle = kernel->module->find_kernel(on, kernel->name);
    if (!handle.ok()) {
      return {handle.failure().code, readable_name(kernel->name) + ": " + handle.failure().message};
    }
    if (const status placed = kernel->module->place_managed(on); !placed.ok()) return placed;
    auto attributes = on.attributes(*handle);
    if (!attributes.ok()) return attributes.failure();
    kernel->attributes = std::move(*attributes);
    kernel->handle = *handle;
  }
  return kernel;
}

result<module_symbol> registry::use_variable(device& on, const void* host_variable) {
  const auto found = variables_.find(host_variable);
  if (found == variables_.end()) {
    for (const auto& module : modules_) {
      if (const std::string* name = module->managed_at(host_variable)) {
        if (const status placed = module->place_managed(on); !placed.ok()) return placed;
        return module->find_symbol(on, *name);
      }
    }
    return {error::invalid_symbol,
            "this address is not a __device__ or __constant__ variable of the program"};
  }
  const auto symbol = found->second.module->find_symbol(on, found->second.name);
  if (!symbol.ok()) {
    return {symbol.failure().code, found->second.name + ": " + symbol.failure().message};
  }
  return symbol;
}

const std::string* registry::variable_at(const void* host_variable) const {
  const auto found = variables_.find(host_variable);
  return found == variables_.end() ? nullptr : &found->second.name;
}

loaded_library* registry::add_library(result<module_handle> module) {
  auto made = std::make_unique<loaded_library>(loaded_library{std::move(module), {}});
  loaded_library* const library = made.get();
  libraries_[library] = std::move(made);
  return library;
}

loaded_library* registry::find_library(const void* handle) {
  const auto found = libraries_.find(handle);
  return found == libraries_.end() ? nullptr : found->second.get();
}

void registry::remove_library(loaded_library& library) {
  for (const auto& [name, kernel] : library.kernels) handles_.erase(kernel.get());
  libraries_.erase(&library);
}

result<registered_kernel*> registry::library_kernel(device& on, loaded_library& library,
                                                    std::string_view name) {
  if (const auto known = library.kernels.find(name); known != library.kernels.end()) {
    return known->second.get();
  }
  if (!library.module.ok()) return library.module.failure();
  const auto handle = on.find_kernel(*library.module, name);
  if (!handle.ok()) return handle.failure();
  auto attributes = on.attributes(*handle);
  if (!attributes.ok()) return attributes.failure();
  auto kernel = std::make_unique<registered_kernel>();
  kernel->name = name;
  kernel->handle = *handle;
  kernel->attributes = std::move(*attributes);
  registered_kernel* const found = kernel.get();
  library.kernels.emplace(name, std::move(kernel));
  handles_[found] = found;
  return found;
}

loaded_library* registry::library_of(const registered_kernel& kernel) {
  for (const auto& [handle, library] : libraries_) {
    const auto found = library->kernels.find(kernel.name);
    if (found != library->kernels.end() && found->second.get() == &kernel) return library.get();
  }
  return nullptr;
}

void registry::forget_device() {
  while (!libraries_.empty()) remove_library(*libraries_.begin()->second);
  for (const auto& module : modules_) module->forget();
  for (const auto& [function, kernel] : kernels_) kernel->handle.reset();
}

}  // namespace stepwise::runtime
