// Launches, kernel attributes, and occupancy.
#include <algorithm>

#include "common/driver/driver.hpp"
#include "common/runtime/api/launch.hpp"

using namespace stepwise;
using namespace stepwise::driver;
using runtime::registered_kernel;
using runtime::state;

namespace {

// Runs `body(state&, registered_kernel&) -> status` for one of the program's kernels.
template <class Body>
cudaError_t with_kernel(const void* function, Body&& body) {
  return runtime::call([&](state& s) {
    const auto found = s.registered.use_kernel(*s.current, function);
    return found.ok() ? body(s, **found) : found.failure();
  });
}

// Finds the arguments in the parameter buffer that the list `extra` describes, which ends with
// CU_LAUNCH_PARAM_END.
cudaError_t arguments_in(void** extra, const void* function, std::vector<void*>& arguments) {
  char* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = static_cast<char*>(extra[1]);
    } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1]) {
      bytes = *static_cast<std::size_t*>(extra[1]);
    } else {
      return cudaErrorInvalidValue;
    }
  }
  if (!buffer) return cudaErrorInvalidValue;
  return with_kernel(function, [&](state&, registered_kernel& kernel) {
    for (const kernel_parameter& p : kernel.attributes.parameters) {
      if (p.offset + std::size_t{p.bytes} > bytes) {
        return runtime::invalid_value("the buffer of parameters is too small");
      }
      arguments.push_back(buffer + p.offset);
    }
    return status{};
  });
}

CUresult launch(const cudaLaunchConfig_t& config, const void* function, void** arguments,
                void** extra, std::source_location at = std::source_location::current()) {
  return in_context(
      [&](context&) -> CUresult {
        if (!function) return CUDA_ERROR_INVALID_HANDLE;
        if (arguments && extra) return CUDA_ERROR_INVALID_VALUE;
        std::vector<void*> packed;
        if (extra) {
          const cudaError_t sound = arguments_in(extra, function, packed);
          if (sound != cudaSuccess) return result_of(sound);
        }
        return result_of(cudaLaunchKernelExC(&config, function, extra ? packed.data() : arguments));
      },
      at);
}

cudaLaunchConfig_t configuration(const CUlaunchConfig& c) {
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  cudaLaunchConfig_t config{};
  config.gridDim = {c.gridDimX, c.gridDimY, c.gridDimZ};
  config.blockDim = {c.blockDimX, c.blockDimY, c.blockDimZ};
  config.dynamicSmemBytes = c.sharedMemBytes;
  config.stream = c.hStream;
  config.attrs = reinterpret_cast<cudaLaunchAttribute*>(c.attrs);
  config.numAttrs = c.numAttrs;
  return config;
}

result<int> value_of(const cudaFuncAttributes& a, int attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return a.maxThreadsPerBlock;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(a.sharedSizeBytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return static_cast<int>(a.constSizeBytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(a.localSizeBytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return a.numRegs;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return a.ptxVersion;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return a.binaryVersion;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return a.cacheModeCA;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return a.maxDynamicSharedSizeBytes;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return a.preferredShmemCarveout;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      return a.clusterDimMustBeSet;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return a.requiredClusterWidth;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return a.requiredClusterHeight;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return a.requiredClusterDepth;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return a.nonPortableClusterSizeAllowed;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return a.clusterSchedulingPolicyPreference;
    default:
      return {error::invalid_value, "no such attribute of a kernel"};
  }
}

cudaError_t attribute_of(int* value, CUfunction_attribute attribute, const void* function) {
  cudaFuncAttributes all;
  if (!value) return cudaErrorInvalidValue;
  const cudaError_t known = cudaFuncGetAttributes(&all, function);
  if (known != cudaSuccess) return known;
  const auto found = value_of(all, runtime::number_of(attribute));
  if (!found.ok()) return cudaErrorInvalidValue;
  *value = *found;
  return cudaSuccess;
}

cudaError_t name_of(const char** name, const void* function) {
  return name && function ? cudaFuncGetName(name, function) : cudaErrorInvalidValue;
}

cudaError_t set_attribute(const void* function, CUfunction_attribute attribute, int value) {
  return cudaFuncSetAttribute(function,
                              static_cast<cudaFuncAttribute>(runtime::number_of(attribute)), value);
}

// The library that contains a kernel.
template <class Handle>
cudaError_t library_of(Handle* handle, const void* function) {
  return with_kernel(function, [&](state& s, registered_kernel& kernel) {
    auto* const owner = s.registered.library_of(kernel);
    if (!handle || !owner) return runtime::invalid_value("the kernel belongs to no module");
    *handle = reinterpret_cast<Handle>(owner);
    return status{};
  });
}

// The largest block size that maximises the resident threads on a multiprocessor, found in the same
// way as by cuda_runtime.h's cudaOccupancyMaxPotentialBlockSize.
cudaError_t best_block(int* grid, int* block, const void* function,
                       CUoccupancyB2DSize dynamic_bytes_of, std::size_t dynamic_bytes, int limit) {
  cudaFuncAttributes kernel;
  cudaError_t outcome = cudaFuncGetAttributes(&kernel, function);
  int processors = 0, most_threads = 0, warp = 0;
  const auto device = [&](int& value, cudaDeviceAttr which) {
    if (outcome == cudaSuccess) outcome = cudaDeviceGetAttribute(&value, which, 0);
  };
  device(processors, cudaDevAttrMultiProcessorCount);
  device(most_threads, cudaDevAttrMaxThreadsPerMultiProcessor);
  device(warp, cudaDevAttrWarpSize);
  if (outcome != cudaSuccess) return outcome;
  int most = kernel.maxThreadsPerBlock;
  if (limit > 0) most = std::min(most, limit);
  int best = 0;
  for (int threads = (most + warp - 1) / warp * warp; threads > 0; threads -= warp) {
    const int tried = std::min(threads, most);
    if (dynamic_bytes_of) dynamic_bytes = dynamic_bytes_of(tried);
    int blocks = 0;
    outcome =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, tried, dynamic_bytes);
    if (outcome != cudaSuccess) return outcome;
    if (blocks * tried <= best) continue;
    best = blocks * tried;
    *block = tried;
    *grid = blocks * processors;
    if (best == most_threads) break;
  }
  return cudaSuccess;
}

}  // namespace

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** arguments, void** extra) {
  cudaLaunchConfig_t config{};
  config.gridDim = {grid_x, grid_y, grid_z};
  config.blockDim = {block_x, block_y, block_z};
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  return launch(config, function, arguments, extra);
}
STEPWISE_NAMED("cuLaunchKernel_ptsz", launch_per_thread, CUfunction, unsigned, unsigned, unsigned,
               unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**);
CUresult launch_per_thread(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z,
                           unsigned shared_bytes, CUstream stream, void** arguments, void** extra) {
  return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                        per_thread(stream), arguments, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction function, void** arguments,
                          void** extra) {
  if (!c) return returned(CUDA_ERROR_INVALID_VALUE);
  return launch(configuration(*c), function, arguments, extra);
}
STEPWISE_NAMED("cuLaunchKernelEx_ptsz", launch_ex_per_thread, const CUlaunchConfig*, CUfunction,
               void**, void**);
CUresult launch_ex_per_thread(const CUlaunchConfig* c, CUfunction function, void** arguments,
                              void** extra) {
  if (!c) return returned(CUDA_ERROR_INVALID_VALUE);
  cudaLaunchConfig_t config = configuration(*c);
  config.stream = per_thread(config.stream);
  return launch(config, function, arguments, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, CUstream stream,
                                   void** arguments) {
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = {grid_x, grid_y, grid_z};
  config.blockDim = {block_x, block_y, block_z};
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  return launch(config, function, arguments, nullptr);
}
STEPWISE_ALSO("cuLaunchCooperativeKernel_ptsz", cuLaunchCooperativeKernel);

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return in_context([&](context&) { return attribute_of(value, attribute, function); });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return in_context([&](context&) { return set_attribute(function, attribute, value); });
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return in_context([&](context&) {
    return cudaFuncSetCacheConfig(static_cast<const void*>(function),
                                  static_cast<cudaFuncCache>(runtime::number_of(config)));
  });
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return in_context([&](context&) {
    return with_kernel(function, [](state&, registered_kernel&) { return status{}; });
  });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return in_context([&](context&) { return library_of(module, function); });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return answer([&] { return name_of(name, function); });
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
  return answer([&] {
    return cudaFuncGetParamInfo(static_cast<const void*>(function), index, offset, bytes);
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* loaded, CUfunction function) {
  return in_context([&](context&) {
    return with_kernel(function, [&](state&, registered_kernel&) {
      if (!loaded) return runtime::invalid_value("the output pointer is null");
      *loaded = CU_FUNCTION_LOADING_STATE_LOADED;
      return status{};
    });
  });
}

CUresult cuFuncLoad(CUfunction function) {
  return in_context([&](context&) {
    return with_kernel(function, [](state&, registered_kernel&) { return status{}; });
  });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return in_context([&](context&) {
    return with_kernel(kernel, [&](state&, registered_kernel& found) {
      if (!function) return runtime::invalid_value("the output pointer is null");
      *function = reinterpret_cast<CUfunction>(&found);
      return status{};
    });
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return answer([&] { return library_of(library, kernel); });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device) {
  return of_device(device, [&] { return attribute_of(value, attribute, kernel); });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device) {
  return of_device(device, [&] { return set_attribute(kernel, attribute, value); });
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache, CUdevice device) {
  return of_device(device, [&] {
    return with_kernel(kernel, [](state&, registered_kernel&) { return status{}; });
  });
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return answer([&] { return name_of(name, kernel); });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return answer(
      [&] { return cudaFuncGetParamInfo(static_cast<const void*>(kernel), index, offset, bytes); });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t dynamic_bytes) {
  return in_context([&](context&) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_bytes);
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int threads, size_t dynamic_bytes,
                                                              unsigned flags) {
  return in_context([&](context&) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                  dynamic_bytes, flags);
  });
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize dynamic_bytes_of, size_t dynamic_bytes,
                                          int limit) {
  return in_context([&](context&) {
    if (!grid || !block) return cudaErrorInvalidValue;
    return best_block(grid, block, function, dynamic_bytes_of, dynamic_bytes, limit);
  });
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize dynamic_bytes_of,
                                                   size_t dynamic_bytes, int limit,
                                                   unsigned flags) {
  return in_context([&](context&) {
    if (!grid || !block || (flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE})) {
      return cudaErrorInvalidValue;
    }
    return best_block(grid, block, function, dynamic_bytes_of, dynamic_bytes, limit);
  });
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks,
                                                 int threads) {
  return in_context([&](context&) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads);
  });
}

CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function,
                                            const CUlaunchConfig* c) {
  return in_context([&](context&) {
    if (!c) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t config = configuration(*c);
    return cudaOccupancyMaxPotentialClusterSize(blocks, function, &config);
  });
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* c) {
  return in_context([&](context&) {
    if (!c) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t config = configuration(*c);
    return cudaOccupancyMaxActiveClusters(clusters, function, &config);
  });
}
