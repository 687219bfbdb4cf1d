// A stand-in for NVML with two GPUs. Only the second GPU counts energy. FAKE_NVML names the failure
// to simulate: "no driver", "denied" or "divided". Without this variable, there is no failure.
#include <cstdlib>
#include <cstring>

namespace {

int devices[2];

bool is(const char* what) {
  const char* const wrong = std::getenv("FAKE_NVML");
  return wrong != nullptr && std::strcmp(wrong, what) == 0;
}

constexpr int not_supported = 3, no_permission = 4, not_found = 6, driver_not_loaded = 9;

}  // namespace

extern "C" {

int nvmlInit_v2() { return is("no driver") ? driver_not_loaded : 0; }

const char* nvmlErrorString(int code) {
  switch (code) {
    case not_supported:
      return "Not Supported";
    case no_permission:
      return "Insufficient Permissions";
    case driver_not_loaded:
      return "Driver Not Loaded";
    default:
      return "Not Found";
  }
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* place, void** device) {
  const bool first = std::strcmp(place, "0000:06:00.0") == 0;
  if (!first && std::strcmp(place, "0000:86:00.0") != 0) return not_found;
  *device = &devices[first ? 0 : 1];
  return 0;
}

int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  *current = *pending = is("divided") ? 1 : 0;
  return 0;
}

// Each reading is 250 J higher than the previous reading.
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  static unsigned long long counted = 0;
  if (is("denied")) return no_permission;
  if (device != &devices[1]) return not_supported;
  *millijoules = counted += 250000;
  return 0;
}
}
