// The energy that a GPU has taken, as its driver counts it.
//
// idea    NVML has a counter in millijoules for the whole board (Volta and later). The library is
//         opened at run time: a machine without a GPU has none. The device is found by its place on
//         the PCI bus, since NVML and CUDA number devices in different orders.
//         Rejected: sampling watts, which are averages over an unknown time.
// source  NVML API Reference Guide, nvmlDeviceGetTotalEnergyConsumption.
// Tested by tests/energy_test.cpp with a library of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace stepwise {

// Millijoules since the driver was loaded; nullopt if it does not report it this time.
using energy_counter = std::function<std::optional<std::uint64_t>()>;

// Of the GPU at this place, "0000:06:00.0"; empty, with the reason in `why`, if there is no such
// counter, or if it also counts what others do there. NVML stays loaded to the end of the process.
energy_counter find_energy_counter(const std::string& pci_bus_id, std::string& why,
                                   const char* library = "libnvidia-ml.so.1");

}  // namespace stepwise
