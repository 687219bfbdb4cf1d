// The energy that a GPU has used, as its driver counts it.
//
// idea    NVML has a counter in millijoules for the whole board (Volta and later). The library is
//         opened at run time, because a machine without a GPU lacks it. The device is found by its
//         PCI bus id, because NVML and CUDA number devices in different orders.
//         Sampled watts were rejected: they are averages over an unknown time.
// source  NVML API Reference Guide, nvmlDeviceGetTotalEnergyConsumption.
// Tested by tests/energy_test.cpp with a fake library.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace stepwise {

// Millijoules since the driver was loaded. nullopt if a reading fails.
using energy_counter = std::function<std::optional<std::uint64_t>()>;

// The counter of the GPU at this PCI address, "0000:06:00.0". Empty, with the reason in `why`, if
// the counter is missing or includes other users' work. NVML stays loaded until the process ends.
energy_counter find_energy_counter(const std::string& pci_bus_id, std::string& why,
                                   const char* library = "libnvidia-ml.so.1");

}  // namespace stepwise
