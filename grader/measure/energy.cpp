// Opens NVML, looks up its functions, and refuses a GPU that MIG divides.
#include "grader/measure/energy.hpp"

#include <dlfcn.h>

namespace stepwise {
namespace {

// Source: NVML API Reference Guide; nvmlReturn_t, 0 is success, and opaque device handles.
using nvml_device = void*;
constexpr unsigned mig_enabled = 1;

struct nvml {
  int (*init)();
  const char* (*error_string)(int code);
  int (*device_at)(const char* pci_bus_id, nvml_device* device);
  int (*total_energy)(nvml_device device, unsigned long long* millijoules);
  int (*mig_mode)(nvml_device device, unsigned* current, unsigned* pending);  // may be null
};

template <class Function>
void look_up(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

energy_counter find_energy_counter(const std::string& pci_bus_id, std::string& why,
                                   const char* library) {
  const auto none = [&why](std::string reason) {
    why = std::move(reason);
    return energy_counter{};
  };
  if (pci_bus_id.empty()) return none("the CUDA driver does not report the GPU's PCI address");
  void* const opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return none(std::string("the machine has no ") + library);
  nvml api{};
  look_up(opened, "nvmlInit_v2", api.init);
  look_up(opened, "nvmlErrorString", api.error_string);
  look_up(opened, "nvmlDeviceGetHandleByPciBusId_v2", api.device_at);
  look_up(opened, "nvmlDeviceGetTotalEnergyConsumption", api.total_energy);
  look_up(opened, "nvmlDeviceGetMigMode", api.mig_mode);
  if (api.init == nullptr || api.error_string == nullptr || api.device_at == nullptr ||
      api.total_energy == nullptr)
    return none(std::string(library) + " is too old: it has no energy counter");
  const auto refused = [&](const char* what, int code) {
    const char* const text = api.error_string(code);
    return none(std::string("NVML ") + what + ": " + (text == nullptr ? "unknown error" : text));
  };
  if (const int code = api.init(); code != 0) return refused("does not start", code);
  nvml_device device = nullptr;
  if (const int code = api.device_at(pci_bus_id.c_str(), &device); code != 0)
    return refused(("has no GPU at " + pci_bus_id).c_str(), code);
  unsigned current = 0, pending = 0;
  if (api.mig_mode != nullptr && api.mig_mode(device, &current, &pending) == 0 &&
      current == mig_enabled)
    return none("the GPU is partitioned (MIG), and the counter covers all partitions");
  const auto read = [total_energy = api.total_energy, device](unsigned long long& millijoules) {
    return total_energy(device, &millijoules);
  };
  unsigned long long first = 0;
  if (const int code = read(first); code != 0) return refused("does not report the energy", code);
  return [read]() -> std::optional<std::uint64_t> {
    unsigned long long millijoules = 0;
    if (read(millijoules) != 0) return std::nullopt;
    return millijoules;
  };
}

}  // namespace stepwise
