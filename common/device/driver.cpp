// Opens libcuda.so.1, looks up its functions by name and initialises it, once per process.
#if __has_include(<cuda.h>)
#include "common/device/driver.hpp"

#include <dlfcn.h>

namespace stepwise {
namespace {

struct entry {
  void* slot;  // the field in `driver` for the function's address
  const char* name;
};

// False, with the reason in `why`, if one of the driver's functions is missing.
bool load_all(void* library, driver& out, std::string& why) {
  const entry entries[] = {
      {&out.init, "cuInit"},
      {&out.driver_get_version, "cuDriverGetVersion"},
      {&out.get_error_string, "cuGetErrorString"},
      {&out.device_get, "cuDeviceGet"},
      {&out.device_get_name, "cuDeviceGetName"},
      {&out.device_get_attribute, "cuDeviceGetAttribute"},
      {&out.device_total_mem, "cuDeviceTotalMem_v2"},
      {&out.ctx_create, "cuCtxCreate_v2"},
      {&out.ctx_destroy, "cuCtxDestroy_v2"},
      {&out.ctx_push_current, "cuCtxPushCurrent_v2"},
      {&out.ctx_pop_current, "cuCtxPopCurrent_v2"},
      {&out.ctx_synchronize, "cuCtxSynchronize"},
      {&out.ctx_reset_persisting_lines, "cuCtxResetPersistingL2Cache"},
      {&out.ctx_set_limit, "cuCtxSetLimit"},
      {&out.ctx_get_limit, "cuCtxGetLimit"},
      {&out.mem_alloc, "cuMemAlloc_v2"},
      {&out.mem_alloc_managed, "cuMemAllocManaged"},
      {&out.pointer_get_attribute, "cuPointerGetAttribute"},
      {&out.mem_free, "cuMemFree_v2"},
      {&out.mem_host_register, "cuMemHostRegister_v2"},
      {&out.mem_host_unregister, "cuMemHostUnregister"},
      {&out.mem_get_info, "cuMemGetInfo_v2"},
      {&out.mem_get_address_range, "cuMemGetAddressRange_v2"},
      {&out.memcpy_to_device, "cuMemcpyHtoD_v2"},
      {&out.memcpy_to_host, "cuMemcpyDtoH_v2"},
      {&out.memcpy_on_device, "cuMemcpyDtoD_v2"},
      {&out.memset_8, "cuMemsetD8_v2"},
      {&out.memset_16, "cuMemsetD16_v2"},
      {&out.memset_32, "cuMemsetD32_v2"},
      {&out.module_load_data, "cuModuleLoadDataEx"},
      {&out.module_unload, "cuModuleUnload"},
      {&out.module_get_function, "cuModuleGetFunction"},
      {&out.module_get_global, "cuModuleGetGlobal_v2"},
      {&out.func_get_attribute, "cuFuncGetAttribute"},
      {&out.func_set_attribute, "cuFuncSetAttribute"},
      {&out.func_get_param_info, "cuFuncGetParamInfo"},
      {&out.launch_kernel, "cuLaunchKernelEx"},
      {&out.stream_wait_value_32, "cuStreamWaitValue32_v2"},
      {&out.tensor_map_encode_tiled, "cuTensorMapEncodeTiled"},
      {&out.tensor_map_encode_im2col, "cuTensorMapEncodeIm2col"},
      {&out.tensor_map_replace_address, "cuTensorMapReplaceAddress"},
      {&out.event_create, "cuEventCreate"},
      {&out.event_destroy, "cuEventDestroy_v2"},
      {&out.event_record, "cuEventRecord"},
      {&out.event_elapsed_time, "cuEventElapsedTime"},
  };
  for (const entry& e : entries) {
    void* const address = dlsym(library, e.name);
    if (!address) {
      why = std::string("the CUDA driver of this machine is too old: it has no ") + e.name;
      return false;
    }
    *static_cast<void**>(e.slot) = address;
  }
  return true;
}

}  // namespace

const driver* driver::find(std::string& why) {
  static driver found;
  static std::string reason;
  static const bool usable = [] {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      reason = "no CUDA driver (libcuda.so.1) is installed on this machine";
      return false;
    }
    if (!load_all(library, found, reason)) return false;
    const CUresult failed = found.init(0);
    if (failed == CUDA_SUCCESS) return true;
    const char* text = nullptr;
    found.get_error_string(failed, &text);
    reason = std::string("the CUDA driver does not start: ") + (text ? text : "unknown error");
    return false;
  }();
  if (usable) return &found;
  why = reason;
  return nullptr;
}

}  // namespace stepwise
#endif
