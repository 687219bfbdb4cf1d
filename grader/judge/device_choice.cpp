// Queries the driver for GPUs, finds NVIDIA's runtime, and sets the runner's variables.
#include "grader/judge/device_choice.hpp"

#include <dlfcn.h>

#include <cctype>
#include <cstdlib>
#include <sstream>

#include "common/device/engine_settings.hpp"
#include "common/device/gpu.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

extern char** environ;

namespace stepwise {
namespace {

// "580.65.06" from the kernel module, the version that people compare.
std::string module_version() {
  const auto text = read_if_there("/sys/module/nvidia/version");
  return text ? text->substr(0, text->find('\n')) : std::string{};
}

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// Driver API attributes; source: CUDA Toolkit 13.0, cuda.h, enum CUdevice_attribute.
constexpr int memory_clock_khz_attribute = 36;
constexpr int memory_bus_bits_attribute = 37;

void probe_driver(gpu_state& state) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    state.missing = "the NVIDIA driver's libcuda.so.1 is not installed";
    return;
  }
  state.driver = true;
  const auto init = symbol<int(unsigned)>(library, "cuInit");
  const auto count = symbol<int(int*)>(library, "cuDeviceGetCount");
  const auto name = symbol<int(char*, int, int)>(library, "cuDeviceGetName");
  const auto version = symbol<int(int*)>(library, "cuDriverGetVersion");
  const auto attribute = symbol<int(int*, int, int)>(library, "cuDeviceGetAttribute");
  const auto memory = symbol<int(std::size_t*, int)>(library, "cuDeviceTotalMem_v2");
  if (init == nullptr || count == nullptr || name == nullptr) {
    state.missing = "libcuda.so.1 lacks the driver API";
    return;
  }
  const int error = init(0);
  int devices = 0;
  if (error != 0 || count(&devices) != 0 || devices == 0) {
    state.missing = "the NVIDIA driver is installed, but it finds no GPU" +
                    (error == 0 ? std::string{} : " (cuInit: error " + std::to_string(error) + ")");
    return;
  }
  char text[256] = "";
  name(text, sizeof text, 0);
  state.device = true;
  state.name = text;
  int number = 0, clock_khz = 0, bus_bits = 0;
  state.driver_version = module_version();
  if (state.driver_version.empty() && version != nullptr && version(&number) == 0) {
    state.driver_version =
        "CUDA " + std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  }
  if (std::size_t bytes = 0; memory != nullptr && memory(&bytes, 0) == 0)
    state.memory_bytes = bytes;
  const auto place = symbol<int(char*, int, int)>(library, "cuDeviceGetPCIBusId");
  if (char bus_id[32] = ""; place != nullptr && place(bus_id, sizeof bus_id, 0) == 0)
    state.pci_bus_id = bus_id;
  if (attribute != nullptr && attribute(&clock_khz, memory_clock_khz_attribute, 0) == 0 &&
      attribute(&bus_bits, memory_bus_bits_attribute, 0) == 0) {
    state.peak_gb_per_s = 2.0 * clock_khz * 1e3 * bus_bits / 8 / 1e9;  // double data rate
  }
}

void find_runtime(gpu_state& state, const installation& where) {
  std::error_code error;
  const fs::path ours = fs::weakly_canonical(where.emulated_runtime / "libcudart.so.13", error);
  for (const auto& folder : where.nvidia_runtimes) {
    const fs::path library = folder / "libcudart.so.13";
    const fs::path real = fs::canonical(library, error);
    if (error || real == ours) continue;
    state.runtime = folder;
    const std::string name = real.filename();
    state.runtime_version = name.substr(std::string("libcudart.so.").size());
    return;
  }
  if (state.missing.empty()) {
    state.missing =
        "NVIDIA's libcudart.so.13 was not found; install the CUDA 13 toolkit or set CUDA_HOME";
  }
}

void stand_in(device_choice& choice) {
  const std::string id = engine_settings::from_environment().gpu_or_default();
  const auto model = find_gpu(id);
  choice.name = model.ok() ? model->name : id;
  if (model.ok()) choice.peak_bytes_per_s = model->memory_bytes_per_s();
}

}  // namespace

gpu_state probe_gpu(const installation& where) {
  gpu_state state;
  probe_driver(state);
  find_runtime(state, where);
  return state;
}

std::vector<std::string> device_choice::environment() const {
  std::string path = runtime_folder.string();
  if (gpu) {
    // The driver may be in an unusual folder, which the user's own path names.
    if (const char* inherited = std::getenv("LD_LIBRARY_PATH")) {
      if (*inherited != '\0') path += std::string(":") + inherited;
    }
  }
  std::vector<std::string> entries = {"LD_LIBRARY_PATH=" + path};
  // The default is ~/.nv, which is outside the clone.
  if (gpu && !cache_folder.empty() && std::getenv("CUDA_CACHE_PATH") == nullptr) {
    entries.push_back("CUDA_CACHE_PATH=" + cache_folder.string());
  }
  return entries;
}

std::vector<std::string> visible_gpus() {
  std::vector<std::string> gpus;
  if (const char* const set = std::getenv("CUDA_VISIBLE_DEVICES")) {
    std::istringstream words{std::string(set)};
    for (std::string word; std::getline(words, word, ',');) gpus.push_back(word);
    return gpus;
  }
  std::error_code error;
  for ([[maybe_unused]] const auto& entry :
       fs::directory_iterator("/proc/driver/nvidia/gpus", error))
    gpus.push_back(std::to_string(gpus.size()));
  return gpus;
}

fs::path gpu_lock_file(const gpu_state& state) {
  const std::string id = state.pci_bus_id.empty() ? "" : "-" + state.pci_bus_id;
  return fs::path("/tmp") / ("stepwise-gpu" + id + ".lock");
}

std::string gpu_file_name(std::string_view device_name) {
  for (const auto& id : known_gpus())
    if (const auto model = find_gpu(id); model.ok() && model->name == device_name) return id;
  constexpr std::string_view vendor = "NVIDIA ";
  if (device_name.starts_with(vendor)) device_name.remove_prefix(vendor.size());
  std::string name;
  for (const char c : device_name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "gpu" : name;
}

device_choice choose_device(device_request request, const installation& where) {
  device_choice choice;
  if (request != device_request::emulated) choice.state = probe_gpu(where);
  if (request == device_request::gpu && !choice.state.usable()) {
    throw failure(exit_code::environment,
                  "--device gpu: " + choice.state.missing +
                      "\nto run the kernels on the emulator, leave out --device gpu");
  }
  choice.gpu = request != device_request::emulated && choice.state.usable();
  if (choice.gpu) {
    choice.name = choice.state.name;
  } else {
    stand_in(choice);
  }
  choice.cache_folder = where.build / "cuda-cache";
  choice.runtime_folder = choice.gpu ? choice.state.runtime : where.emulated_runtime;
  return choice;
}

std::vector<std::string> gpu_environment() {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry, name = text.substr(0, text.find('='));
    const bool is_drivers = name == "LD_LIBRARY_PATH" || name == "PATH" || name == "HOME" ||
                            name.starts_with("CUDA_") || name.starts_with("NVIDIA_");
    if (is_drivers) kept.push_back(text);
  }
  return kept;
}

child_options in_walls(child_options server, const device_choice& device, server_walls walls,
                       const fs::path& shown) {
  if (device.guards == nullptr || walls == server_walls::none) return server;
  protections with = *device.guards;
  if (walls == server_walls::all) {
    server.environment.push_back("CUDA_CACHE_PATH=/tmp/cuda");
  } else {
    with.bubblewrap.clear();
  }
  auto view = for_gpu_server(device.server);
  if (!shown.empty()) view.read.push_back(shown);
  return confined(std::move(server), view, with);
}

device_choice judged_on(device_choice device, const installation& where) {
  device.server =
      where.build / "common" / "device" / "remote" / "server" / "stepwise-device-server";
  device.client_runtime = where.served_runtime;
  return device;
}

}  // namespace stepwise
