// Contexts (created ones, and the primary context that the runtime uses), and device limits.
#include "common/driver/driver.hpp"

using namespace stepwise;
using namespace stepwise::driver;
using runtime::state;

namespace {

constexpr unsigned known_flags = CU_CTX_FLAGS_MASK;

CUresult create_context(CUcontext* made, unsigned flags, CUdevice device) {
  return of_device(device, [&]() -> CUresult {
    if (!made || (flags & ~known_flags)) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t usable = runtime::call([](state&) { return status{}; });
    if (usable != cudaSuccess) return result_of(usable);
    context* const created = contexts::get().create(flags);
    if (!contexts::get().push(created)) {
      contexts::get().forget(created);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *made = handle_of(created);
    return CUDA_SUCCESS;
  });
}

// Releases everything that a context owns, in an order in which nothing is used after its release.
void release_all(context& owner) {
  (void)cudaDeviceSynchronize();
  const context owned = contexts::get().take_all(owner);
  for (CUevent event : owned.events) (void)cudaEventDestroy(event);
  for (CUstream stream : owned.streams) (void)cudaStreamDestroy(stream);
  for (CUmodule module : owned.modules) {
    (void)cudaLibraryUnload(reinterpret_cast<cudaLibrary_t>(module));
  }
  for (CUtexObject object : owned.textures) (void)cudaDestroyTextureObject(object);
  for (CUsurfObject object : owned.surfaces) (void)cudaDestroySurfaceObject(object);
  for (CUarray array : owned.arrays) (void)cudaFreeArray(reinterpret_cast<cudaArray_t>(array));
  for (CUdeviceptr address : owned.memory) (void)cudaFree(pointer_of(address));
  for (void* address : owned.host_memory) {
    if (cudaFreeHost(address) != cudaSuccess) (void)cudaHostUnregister(address);
  }
}

// Resets the primary context, and the device too unless created contexts still use it.
void reset_primary() {
  if (contexts::get().any_created()) return release_all(*contexts::get().primary());
  (void)contexts::get().take_all(*contexts::get().primary());
  (void)cudaDeviceReset();
}

template <class Body>
CUresult of_context(CUcontext handle, Body&& body,
                    std::source_location at = std::source_location::current()) {
  return answer(
      [&]() -> CUresult {
        context* const which = handle ? context_of(handle) : contexts::get().current();
        if (!which || !contexts::get().exists(which)) return CUDA_ERROR_INVALID_CONTEXT;
        return result_of(body(*which));
      },
      at);
}

// Stores a value that the runtime returns for the current context.
template <class T, class Function>
CUresult ask(T* place, Function&& function,
             std::source_location at = std::source_location::current()) {
  return in_context([&](context&) { return place ? function(place) : cudaErrorInvalidValue; }, at);
}

}  // namespace

// Execution affinity and CIG (CUDA in graphics) parameters are not supported.
CUresult cuCtxCreate(CUcontext* made, CUctxCreateParams* parameters, unsigned flags,
                     CUdevice device) {
  if (parameters && (parameters->numExecAffinityParams > 0 || parameters->cigParams)) {
    runtime::announce("cuCtxCreate: context parameters are not supported");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return create_context(made, flags, device);
}
STEPWISE_NAMED("cuCtxCreate_v3", create_context_3, CUcontext*, CUexecAffinityParam*, int, unsigned,
               CUdevice);
CUresult create_context_3(CUcontext* made, CUexecAffinityParam*, int count, unsigned flags,
                          CUdevice device) {
  if (count > 0) {
    runtime::announce("cuCtxCreate: context parameters are not supported");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return create_context(made, flags, device);
}
STEPWISE_NAMED("cuCtxCreate_v2", create_context_2, CUcontext*, unsigned, CUdevice);
CUresult create_context_2(CUcontext* made, unsigned flags, CUdevice device) {
  return create_context(made, flags, device);
}
STEPWISE_ALSO_OF("cuCtxCreate", create_context_2, "cuCtxCreate_v2");

CUresult cuCtxDestroy(CUcontext handle) {
  if (!handle) return returned(CUDA_ERROR_INVALID_CONTEXT);
  return of_context(handle, [](context& which) {
    if (&which == contexts::get().primary()) return CUDA_ERROR_INVALID_CONTEXT;
    release_all(which);
    contexts::get().forget(&which);
    return CUDA_SUCCESS;
  });
}
STEPWISE_ALSO("cuCtxDestroy", cuCtxDestroy_v2);

CUresult cuCtxPushCurrent(CUcontext handle) {
  if (!handle) return returned(CUDA_ERROR_INVALID_VALUE);
  return of_context(handle, [](context& which) {
    return contexts::get().push(&which) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  });
}
STEPWISE_ALSO("cuCtxPushCurrent", cuCtxPushCurrent_v2);

CUresult cuCtxPopCurrent(CUcontext* handle) {
  return answer([&] {
    context* popped = nullptr;
    if (!contexts::get().pop(popped)) return CUDA_ERROR_INVALID_CONTEXT;
    if (handle) *handle = handle_of(popped);
    return CUDA_SUCCESS;
  });
}
STEPWISE_ALSO("cuCtxPopCurrent", cuCtxPopCurrent_v2);

CUresult cuCtxSetCurrent(CUcontext handle) {
  return answer([&]() -> CUresult {
    if (handle && !contexts::get().exists(context_of(handle))) return CUDA_ERROR_INVALID_CONTEXT;
    contexts::get().set(context_of(handle));
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  return answer([&] {
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    *handle = handle_of(contexts::get().current());
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return in_context([&](context&) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  return of_context(handle, [&](context&) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return in_context([&](context& current) {
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = current.flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetFlags(unsigned flags) {
  return in_context([&](context& current) {
    if (flags & ~known_flags) return CUDA_ERROR_INVALID_VALUE;
    current.flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return of_context(handle, [&](context& which) {
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    *id = which.id;
    return CUDA_SUCCESS;
  });
}

// The version of the interface, which no driver has changed since CUDA 4.
CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  return of_context(handle, [&](context&) {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return in_context([](context&) { return cudaDeviceSynchronize(); });
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return of_context(handle, [](context&) { return cudaDeviceSynchronize(); });
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return ask(value, [&](size_t* place) {
    // For an unknown limit, the driver returns an invalid-value error.
    const cudaError_t outcome =
        cudaDeviceGetLimit(place, static_cast<cudaLimit>(runtime::number_of(limit)));
    return outcome == cudaErrorUnsupportedLimit ? cudaErrorInvalidValue : outcome;
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return in_context([&](context&) {
    return cudaDeviceSetLimit(static_cast<cudaLimit>(runtime::number_of(limit)), value);
  });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return ask(config, [](CUfunc_cache* place) {
    return cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(place));
  });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return in_context([&](context&) {
    return cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(runtime::number_of(config)));
  });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return ask(config, [](CUsharedconfig* place) {
    *place = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return cudaSuccess;
  });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig) {
  return in_context([](context&) { return CUDA_SUCCESS; });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return in_context([&](context&) { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}

CUresult cuCtxResetPersistingL2Cache() {
  return in_context([](context&) { return cudaCtxResetPersistingL2Cache(); });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return of_context(peer, [&](context&) { return cudaDeviceEnablePeerAccess(0, flags); });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return of_context(peer, [](context&) { return cudaDeviceDisablePeerAccess(0); });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice device) {
  return of_device(device, [&] {
    if (!handle) return cudaErrorInvalidValue;
    const cudaError_t usable = runtime::call([](state&) { return status{}; });
    if (usable != cudaSuccess) return usable;
    contexts::get().retain_primary(1);
    *handle = handle_of(contexts::get().primary());
    return cudaSuccess;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return of_device(device, [] {
    const int left = contexts::get().retain_primary(-1);
    if (left < 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (!contexts::get().primary_is_active()) reset_primary();
    return CUDA_SUCCESS;
  });
}
STEPWISE_ALSO("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease_v2);

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return of_device(device, [] {
    reset_primary();
    return CUDA_SUCCESS;
  });
}
STEPWISE_ALSO("cuDevicePrimaryCtxReset", cuDevicePrimaryCtxReset_v2);

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return of_device(device, [&] {
    if (flags & ~known_flags) return CUDA_ERROR_INVALID_VALUE;
    contexts::get().primary()->flags = flags;
    return CUDA_SUCCESS;
  });
}
STEPWISE_ALSO("cuDevicePrimaryCtxSetFlags", cuDevicePrimaryCtxSetFlags_v2);

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return of_device(device, [&] {
    if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
    *flags = contexts::get().primary()->flags;
    *active = contexts::get().primary_is_active() ? 1 : 0;
    return CUDA_SUCCESS;
  });
}
