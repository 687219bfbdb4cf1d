// cuGetProcAddress, which finds the function that a name means in a given CUDA version.
//
// idea    A program for CUDA 12 or 13 means the newest version of a name that we export, except for
//         the few names that have changed since CUDA 12.
// source  cudaTypedefs.h, for the CUDA version in which each function type appeared
#include <dlfcn.h>

#include <string>

#include "common/driver/driver.hpp"
#include "common/runtime/api/tensor_maps.hpp"

using namespace stepwise;
using namespace stepwise::driver;

namespace {

struct later_version {
  std::string_view symbol;
  int since;
};
constexpr later_version later_versions[] = {
    {"cuGetProcAddress_v2", 12000},
    {"cuCtxCreate_v3", 11040},
    {"cuCtxCreate_v4", 12050},
    {"cuCtxGetDevice_v2", 13000},
    {"cuCtxSynchronize_v2", 13000},
    {"cuEventElapsedTime_v2", 12080},
    {"cuMemAdvise_v2", 12020},
    {"cuMemPrefetchAsync_v2", 12020},
    {"cuMemcpyBatchAsync_v2", 13000},
    {"cuMemcpy3DBatchAsync_v2", 13000},
    {"cuStreamGetCtx_v2", 12050},
    {"cuStreamBeginCapture_v2", 10010},
    {"cuGraphInstantiate_v2", 11000},
    {"cuGraphAddKernelNode_v2", 12000},
    {"cuGraphKernelNodeGetParams_v2", 12000},
    {"cuGraphKernelNodeSetParams_v2", 12000},
    {"cuGraphExecKernelNodeSetParams_v2", 12000},
    {"cuGraphExecUpdate_v2", 12000},
    {"cuStreamGetCaptureInfo_v2", 11030},
    {"cuStreamGetCaptureInfo_v3", 12030},
    {"cuStreamUpdateCaptureDependencies_v2", 12030},
    {"cuGraphAddNode_v2", 12030},
    {"cuGraphAddDependencies_v2", 12030},
    {"cuGraphRemoveDependencies_v2", 12030},
    {"cuGraphGetEdges_v2", 12030},
    {"cuGraphNodeGetDependencies_v2", 12030},
    {"cuGraphNodeGetDependentNodes_v2", 12030},
};

// In CUDA 12, this name means a different function than before.
std::string_view name_since_12(std::string_view name) {
  return name == "cuGraphInstantiate" ? "cuGraphInstantiateWithFlags" : name;
}

// For these names, cuda.h has no macro that appends a version suffix.
bool keeps_its_name(std::string_view name) {
  return name == "cuCtxGetDevice" || name == "cuCtxSynchronize" || name == "cuStreamGetCtx";
}

bool is_known(const std::string& symbol, int version) {
  for (const later_version& later : later_versions) {
    if (later.symbol == symbol) return version >= later.since;
  }
  return true;
}

void* own_library() {
  static void* const handle = [] {
    Dl_info own{};
    dladdr(reinterpret_cast<void*>(&own_library), &own);
    return own.dli_fname ? dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  }();
  return handle;
}

void* find(const std::string& symbol, bool per_thread) {
  if (per_thread) {
    for (const char* suffix : {"_ptsz", "_ptds"}) {
      if (void* const found = dlsym(own_library(), (symbol + suffix).c_str())) return found;
    }
  }
  return dlsym(own_library(), symbol.c_str());
}

// The runtime finds driver functions through this library once it is loaded.
[[maybe_unused]] const bool is_provided =
    (runtime::provide_driver_functions(&cuGetProcAddress), true);

}  // namespace

CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* outcome) {
  if (!name || !function) return returned(CUDA_ERROR_INVALID_VALUE);
  if (flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
    return returned(CUDA_ERROR_INVALID_VALUE);
  const bool per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  *function = nullptr;
  const std::string_view asked = version >= 12000 ? name_since_12(name) : name;
  if (asked.starts_with("cu") && !asked.starts_with("cuda")) {
    for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
      if (*suffix != '\0' && keeps_its_name(asked)) continue;
      const std::string symbol = std::string(asked) + suffix;
      if (is_known(symbol, version)) *function = find(symbol, per_thread);
      if (*function) break;
    }
  }
  if (outcome) {
    *outcome = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return CUDA_SUCCESS;
}

STEPWISE_NAMED("cuGetProcAddress", proc_address_11, const char*, void**, int, cuuint64_t);
CUresult proc_address_11(const char* name, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress(name, function, version, flags, nullptr);
}
