// Chooses the device for the kernels: a GPU through NVIDIA's runtime, or the emulator through ours.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "grader/judge/installation.hpp"
#include "grader/system/process.hpp"

namespace stepwise {

struct protections;

// A GPU server's sandbox. The submission, which has no GPU itself, always gets all available
// layers.
enum class server_walls { none, system_calls, all };

enum class device_request { automatic, gpu, emulated };

// The GPU support of this machine. The probe opens libcuda.so.1 but creates no context.
struct gpu_state {
  bool driver = false;           // libcuda.so.1 can be opened
  bool device = false;           // cuInit succeeds and there is a device
  std::string name;              // of device 0
  std::string driver_version;    // "580.65.06", or the CUDA version it supports
  fs::path runtime;              // folder of NVIDIA's libcudart.so.13; empty if not found
  std::string runtime_version;   // from the library's file name
  double peak_gb_per_s = 0;      // of the memory: clock x width; 0 if unknown
  std::size_t memory_bytes = 0;  // of the device; 0 if unknown
  std::string pci_bus_id;        // the device's: "0000:06:00.0"; empty if unknown
  bool usable() const { return driver && device && !runtime.empty(); }
  std::string missing;  // if it is not usable: the reason, for a message
};
gpu_state probe_gpu(const installation& where);

// Memory limits for the processes of a judged call, each with its child processes. 0: the sandbox's
// default.
struct memory_limits {
  std::uint64_t server_bytes = 0, program_bytes = 0;
};

struct device_choice {
  bool gpu = false;
  std::string name;             // "NVIDIA H200"
  fs::path runtime_folder;      // for LD_LIBRARY_PATH
  fs::path cache_folder;        // the driver's cache of code compiled from PTX
  double peak_bytes_per_s = 0;  // the emulated GPU's memory; 0: unknown, or a GPU
  gpu_state state;              // the machine's, even if the emulator was requested
  // Set by judged_on(): the program that serves the device, and the folder of the runtime through
  // which a submission reaches it.
  fs::path server, client_runtime;
  bool judged() const { return !server.empty(); }
  server_walls walls = server_walls::none;  // for a GPU's server (gpu_care.hpp)
  // If not null, programs run in a sandbox that shows these sources, which findings quote.
  const protections* guards = nullptr;
  std::vector<fs::path> shown;
  memory_limits memory;  // for the emulator

  std::string kind() const { return gpu ? "gpu" : "emulated"; }
  // "NVIDIA H200", "the emulator (as NVIDIA H200)"
  std::string text() const { return gpu ? name : "the emulator (as " + name + ")"; }
  // The environment in which a runner finds this device.
  std::vector<std::string> environment() const;
};

// Values for CUDA_VISIBLE_DEVICES, one per GPU: the names that the variable already has, or
// otherwise the driver's GPU numbers. Empty without a driver.
std::vector<std::string> visible_gpus();

// The lock held while measuring on the GPU of `state`, device 0 of the visible GPUs. Each GPU of a
// machine has its own lock, shared by all clones and users. Containers that share a GPU but not
// /tmp do not exclude each other.
fs::path gpu_lock_file(const gpu_state& state);

// "NVIDIA H200" -> "h200", "NVIDIA GeForce RTX 4090" -> "geforce-rtx-4090".
std::string gpu_file_name(std::string_view device_name);

// The same device, but with judged calls.
device_choice judged_on(device_choice device, const installation& where);

// Throws failure(environment), which explains what is missing, if a requested GPU is unavailable.
device_choice choose_device(device_request request, const installation& where);

// The driver's environment variables, which a GPU's server inherits.
std::vector<std::string> gpu_environment();
// The process `server`, in this sandbox.
child_options in_walls(child_options server, const device_choice& device, server_walls walls,
                       const fs::path& shown = {});

}  // namespace stepwise
