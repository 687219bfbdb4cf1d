// Initialisation, errors, versions, and properties of the only device.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "common/device/error_table.hpp"
#include "common/driver/driver.hpp"
#include "common/runtime/host/call_stacks.hpp"

using namespace stepwise;
using namespace stepwise::driver;
using runtime::state;

namespace {

// Copies text to the caller's `length` bytes, truncated to fit, with a terminating zero.
void copy_text(char* to, int length, std::string_view text) {
  const std::size_t count = std::min(text.size(), static_cast<std::size_t>(length - 1));
  std::memcpy(to, text.data(), count);
  to[count] = '\0';
}

// Runs `body` with the device's description, even if the device is lost.
template <class Body>
cudaError_t describe(Body&& body) {
  return runtime::call_even_lost([&](state& s) {
    body(s.current->description());
    return status{};
  });
}

const char* name_of(CUresult error) {
  // The runtime does not have these two functions.
  if (error == CUDA_ERROR_CONTEXT_ALREADY_CURRENT) return "CUDA_ERROR_CONTEXT_ALREADY_CURRENT";
  if (error == CUDA_ERROR_KEY_ROTATION) return "CUDA_ERROR_KEY_ROTATION";
  const int code = runtime::number_of(error);
  for (const error_entry& e : error_table) {
    if (e.code == code) return e.driver_name;
  }
  return nullptr;
}

// Loads our nvJitLink and NVRTC, because Python packages prefer libraries that are already loaded.
void load_companions() {
  static const bool once = [] {
    Dl_info own{};
    dladdr(reinterpret_cast<void*>(&load_companions), &own);
    const std::string file = own.dli_fname ? own.dli_fname : "";
    const std::string folder = file.substr(0, file.rfind('/') + 1);
    if (folder.empty()) return false;
    dlopen((folder + "libnvJitLink.so.13").c_str(), RTLD_LAZY);
    // Our NVRTC needs NVIDIA's, whose path `lab exec` passes.
    if (std::getenv("STEPWISE_NVRTC")) dlopen((folder + "libnvrtc.so.13").c_str(), RTLD_LAZY);
    return true;
  }();
  (void)once;  // without them, only those packages fail
}

}  // namespace

CUresult cuInit(unsigned flags) {
  if (flags != 0) return returned(CUDA_ERROR_INVALID_VALUE);
  runtime::count_as_own_code(reinterpret_cast<std::uintptr_t>(&copy_text));
  const runtime::driver_call scope("cuInit");
  const cudaError_t present = runtime::call_even_lost([](state&) { return status{}; });
  if (present == cudaSuccess) {
    contexts::get().initialize();
    load_companions();
  }
  return result_of(present);
}

CUresult cuDriverGetVersion(int* version) {
  if (!version) return returned(CUDA_ERROR_INVALID_VALUE);
  const runtime::driver_call scope("cuDriverGetVersion");
  return result_of(describe([&](const gpu& model) { *version = model.driver_version; }));
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = name_of(error) ? runtime::error_text(runtime::number_of(error)) : nullptr;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = name_of(error);
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return of_device(ordinal, [&] {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return answer([&] {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = 1;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return of_device(device, [&] {
    if (!name || length <= 0) return cudaErrorInvalidValue;
    return describe([&](const gpu& model) { copy_text(name, length, model.name); });
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return of_device(device, [&] {
    cudaDeviceProp properties;
    if (!uuid) return cudaErrorInvalidValue;
    const cudaError_t outcome = cudaGetDeviceProperties(&properties, 0);
    if (outcome == cudaSuccess) *uuid = properties.uuid;
    return outcome;
  });
}
STEPWISE_ALSO("cuDeviceGetUuid", cuDeviceGetUuid_v2);

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return of_device(device, [&] {
    if (!bytes) return cudaErrorInvalidValue;
    return describe([&](const gpu& model) { *bytes = model.memory_bytes; });
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return of_device(device, [&] {
    // This depends on the implementation of the device, not on its description.
    if (value &&
        runtime::number_of(attribute) == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) {
      return runtime::call_even_lost([&](runtime::state& s) {
        *value = s.current->extras().mappings ? 1 : 0;
        return status{};
      });
    }
    return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(runtime::number_of(attribute)),
                                  0);
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return of_device(device, [&] {
    if (!major || !minor) return cudaErrorInvalidValue;
    return describe([&](const gpu& model) {
      *major = model.compute_capability() / 10;
      *minor = model.compute_capability() % 10;
    });
  });
}

CUresult cuDeviceGetProperties(CUdevprop* out, CUdevice device) {
  return of_device(device, [&] {
    cudaDeviceProp p;
    if (!out) return cudaErrorInvalidValue;
    const cudaError_t outcome = cudaGetDeviceProperties(&p, 0);
    if (outcome != cudaSuccess) return outcome;
    int clock = 0;
    (void)cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
    out->maxThreadsPerBlock = p.maxThreadsPerBlock;
    std::copy_n(p.maxThreadsDim, 3, out->maxThreadsDim);
    std::copy_n(p.maxGridSize, 3, out->maxGridSize);
    out->sharedMemPerBlock = static_cast<int>(p.sharedMemPerBlock);
    out->totalConstantMemory = static_cast<int>(p.totalConstMem);
    out->SIMDWidth = p.warpSize;
    out->memPitch = static_cast<int>(p.memPitch);
    out->regsPerBlock = p.regsPerBlock;
    out->clockRate = clock;
    out->textureAlign = static_cast<int>(p.textureAlignment);
    return outcome;
  });
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return of_device(device, [&] { return cudaDeviceGetPCIBusId(text, length, 0); });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  return answer([&] { return cudaDeviceGetByPCIBusId(device, text); });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return answer([&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from,
                                 CUdevice to) {
  return answer([&] {
    return cudaDeviceGetP2PAttribute(
        value, static_cast<cudaDeviceP2PAttr>(runtime::number_of(attribute)), from, to);
  });
}

CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType, CUdevice device) {
  return of_device(device, [&] {
    if (!supported) return CUDA_ERROR_INVALID_VALUE;
    *supported = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget,
                                    CUflushGPUDirectRDMAWritesScope) {
  return in_context([](context&) { return CUDA_SUCCESS; });
}

// NVIDIA's libraries request undocumented tables. NVRTC works without them.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  if (table) *table = nullptr;
  Dl_info caller{};
  const bool is_nvrtc = dladdr(__builtin_return_address(0), &caller) && caller.dli_fname &&
                        std::strstr(caller.dli_fname, "libnvrtc");
  return answer([&] {
    if (is_nvrtc) return CUDA_ERROR_NOT_FOUND;
    runtime::announce(
        "cuGetExportTable: NVIDIA's CUDA runtime is linked into this program or a library. It "
        "needs undocumented tables of NVIDIA's driver and cannot run here; build with nvcc "
        "--cudart=shared to use the emulator's runtime");
    return CUDA_ERROR_NOT_FOUND;
  });
}

// Declared in cudaProfiler.h.
STEPWISE_EXPORT CUresult cuProfilerStart() {
  return in_context([](context&) { return CUDA_SUCCESS; });
}
STEPWISE_EXPORT CUresult cuProfilerStop() {
  return in_context([](context&) { return CUDA_SUCCESS; });
}
