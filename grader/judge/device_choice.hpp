// Which device runs the kernels: a GPU through NVIDIA's runtime, or the emulator through ours.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "grader/judge/installation.hpp"
#include "grader/system/process.hpp"

namespace stepwise {

struct protections;

// What a GPU's server is kept in. The submission, which has no GPU, is always in all there is.
enum class server_walls { none, system_calls, all };

enum class device_request { automatic, gpu, emulated };

// What this machine has. Opens libcuda.so.1 and asks it; makes no context.
struct gpu_state {
  bool driver = false;           // libcuda.so.1 can be opened
  bool device = false;           // cuInit succeeds and there is a device
  std::string name;              // of device 0
  std::string driver_version;    // "580.65.06", or the CUDA version it supports
  fs::path runtime;              // folder of NVIDIA's libcudart.so.13; empty if not found
  std::string runtime_version;   // from the library's file name
  double peak_gb_per_s = 0;      // of the memory: clock x width; 0 if unknown
  std::size_t memory_bytes = 0;  // of the device; 0 if unknown
  std::string pci_bus_id;        // of the device: "0000:06:00.0"; empty if unknown
  bool usable() const { return driver && device && !runtime.empty(); }
  std::string missing;  // what to say if not usable
};
gpu_state probe_gpu(const installation& where);

// What the processes of a judged call may have, each with all that it starts; 0: what its sandbox
// says.
struct memory_limits {
  std::uint64_t server_bytes = 0, program_bytes = 0;
};

struct device_choice {
  bool gpu = false;
  std::string name;             // "NVIDIA H200"
  fs::path runtime_folder;      // for LD_LIBRARY_PATH
  fs::path cache_folder;        // where the driver keeps what it compiled from PTX
  double peak_bytes_per_s = 0;  // of the memory of the emulated GPU; 0: unknown, or a GPU
  gpu_state state;              // of the machine, also when the emulator was requested
  // Set by judged_on(). The program that serves the device, and the folder of the runtime through
  // which a submission reaches it.
  fs::path server, client_runtime;
  bool judged() const { return !server.empty(); }
  server_walls walls = server_walls::none;  // of a GPU's server (gpu_care.hpp)
  // Not null: programs run in a sandbox, and are shown these sources, which findings quote.
  const protections* guards = nullptr;
  std::vector<fs::path> shown;
  memory_limits memory;  // where it is not a GPU's

  std::string kind() const { return gpu ? "gpu" : "emulated"; }
  // "NVIDIA H200", "the emulator (NVIDIA H200)"
  std::string text() const { return gpu ? name : "the emulator (as " + name + ")"; }
  // The environment in which a runner finds this device.
  std::vector<std::string> environment() const;
};

// What CUDA_VISIBLE_DEVICES may name, one each: what it names already, else the driver's GPUs by
// their numbers; empty without a driver.
std::vector<std::string> visible_gpus();

// Held by whoever measures on the GPU of `state`, device 0 of those that are visible: each GPU of a
// machine has its own, the same for all clones and users. Containers that share a GPU and not /tmp
// do not wait for each other.
fs::path gpu_lock_file(const gpu_state& state);

// "NVIDIA H200" -> "h200", "NVIDIA GeForce RTX 4090" -> "geforce-rtx-4090".
std::string gpu_file_name(std::string_view device_name);

// The same device with judged calls.
device_choice judged_on(device_choice device, const installation& where);

// failure(environment) says what is missing if a GPU is demanded and there is none.
device_choice choose_device(device_request request, const installation& where);

// What a GPU's server has of our environment: the driver's variables.
std::vector<std::string> gpu_environment();
// The same child behind these walls.
child_options in_walls(child_options server, const device_choice& device, server_walls walls,
                       const fs::path& shown = {});

}  // namespace stepwise
