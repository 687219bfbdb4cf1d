// The CUDA driver's functions that a GPU device needs, found at run time.
//
// idea    Nothing links to the driver, since a machine without a GPU has none. The types come from
//         cuda.h. Every driver for CUDA 12 and 13 exports the versioned names.
#pragma once

#include <cuda.h>

#include <string>

namespace stepwise {

struct driver {
  CUresult (*init)(unsigned flags);
  CUresult (*driver_get_version)(int* version);
  CUresult (*get_error_string)(CUresult code, const char** text);
  CUresult (*device_get)(CUdevice* device, int ordinal);
  CUresult (*device_get_name)(char* name, int length, CUdevice device);
  CUresult (*device_get_attribute)(int* value, CUdevice_attribute which, CUdevice device);
  CUresult (*device_total_mem)(std::size_t* bytes, CUdevice device);
  CUresult (*ctx_create)(CUcontext* context, unsigned flags, CUdevice device);
  CUresult (*ctx_destroy)(CUcontext context);
  CUresult (*ctx_push_current)(CUcontext context);
  CUresult (*ctx_pop_current)(CUcontext* context);
  CUresult (*ctx_synchronize)();
  CUresult (*ctx_reset_persisting_lines)();
  CUresult (*ctx_set_limit)(CUlimit limit, std::size_t value);
  CUresult (*ctx_get_limit)(std::size_t* value, CUlimit limit);
  CUresult (*mem_alloc)(CUdeviceptr* address, std::size_t bytes);
  CUresult (*mem_alloc_managed)(CUdeviceptr* address, std::size_t bytes, unsigned flags);
  CUresult (*pointer_get_attribute)(void* value, CUpointer_attribute which, CUdeviceptr address);
  CUresult (*mem_free)(CUdeviceptr address);
  CUresult (*mem_host_register)(void* first, std::size_t bytes, unsigned flags);
  CUresult (*mem_host_unregister)(void* first);
  CUresult (*mem_get_info)(std::size_t* free_bytes, std::size_t* total_bytes);
  CUresult (*mem_get_address_range)(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address);
  CUresult (*memcpy_to_device)(CUdeviceptr to, const void* from, std::size_t bytes);
  CUresult (*memcpy_to_host)(void* to, CUdeviceptr from, std::size_t bytes);
  CUresult (*memcpy_on_device)(CUdeviceptr to, CUdeviceptr from, std::size_t bytes);
  CUresult (*memset_8)(CUdeviceptr to, unsigned char value, std::size_t count);
  CUresult (*memset_16)(CUdeviceptr to, unsigned short value, std::size_t count);
  CUresult (*memset_32)(CUdeviceptr to, unsigned value, std::size_t count);
  CUresult (*module_load_data)(CUmodule* module, const void* image, unsigned option_count,
                               CUjit_option* options, void** values);
  CUresult (*module_unload)(CUmodule module);
  CUresult (*module_get_function)(CUfunction* function, CUmodule module, const char* name);
  CUresult (*module_get_global)(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                                const char* name);
  CUresult (*func_get_attribute)(int* value, CUfunction_attribute which, CUfunction function);
  CUresult (*func_set_attribute)(CUfunction function, CUfunction_attribute which, int value);
  CUresult (*func_get_param_info)(CUfunction function, std::size_t index, std::size_t* offset,
                                  std::size_t* bytes);
  CUresult (*launch_kernel)(const CUlaunchConfig* config, CUfunction function, void** parameters,
                            void** extra);
  CUresult (*stream_wait_value_32)(CUstream stream, CUdeviceptr address, unsigned value,
                                   unsigned flags);
  CUresult (*tensor_map_encode_tiled)(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                      void* address, const cuuint64_t* sizes,
                                      const cuuint64_t* strides, const cuuint32_t* box,
                                      const cuuint32_t* element_strides,
                                      CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                      CUtensorMapL2promotion promotion,
                                      CUtensorMapFloatOOBfill fill);
  CUresult (*tensor_map_encode_im2col)(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                       void* address, const cuuint64_t* sizes,
                                       const cuuint64_t* strides, const int* lower,
                                       const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                       const cuuint32_t* element_strides,
                                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                       CUtensorMapL2promotion promotion,
                                       CUtensorMapFloatOOBfill fill);
  CUresult (*tensor_map_replace_address)(CUtensorMap* map, void* address);
  CUresult (*event_create)(CUevent* event, unsigned flags);
  CUresult (*event_destroy)(CUevent event);
  CUresult (*event_record)(CUevent event, CUstream stream);
  CUresult (*event_elapsed_time)(float* ms, CUevent start, CUevent stop);

  // The driver of this machine, or null, with the reason in `why`, if no driver is usable. It stays
  // loaded until the process ends.
  static const driver* find(std::string& why);
};

}  // namespace stepwise
