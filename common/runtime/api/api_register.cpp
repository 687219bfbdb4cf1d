// Functions that nvcc's start-up code and the expansion of `<<<>>>` call.
//
// source  crt/host_runtime.h of the CUDA toolkit, and the code that nvcc 13.0 generates
#include "common/runtime/api/launch.hpp"
#include "common/runtime/host/guarded_pages.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

// The launch configuration that `<<<...>>>` passes to the stub. Launches may nest, because an
// argument of a launch may launch another kernel.
struct call_configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
  std::uint64_t origin;  // 0: no checks
};
constexpr int max_nested_launches = 64;
thread_local call_configuration configurations[max_nested_launches];
thread_local int configuration_count = 0;

registered_module* module_of(void** handle) { return reinterpret_cast<registered_module*>(handle); }

// Registration must not stop a program that may never launch anything.
template <class Body>
void quietly(Body&& body) noexcept {
  try {
    state& s = state::get();
    const std::lock_guard guard(s.lock);
    body(s);
  } catch (...) {
    // Out of memory. A later use of the unregistered symbol returns an error.
  }
}

}  // namespace

STEPWISE_EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  registered_module* module = nullptr;
  quietly([&](state& s) {
    module = s.registered.add_module(static_cast<const fat_binary_wrapper*>(wrapper));
  });
  return reinterpret_cast<void**>(module);
}

STEPWISE_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

STEPWISE_EXPORT void __cudaUnregisterFatBinary(void** handle) {
  if (!handle) return;
  quietly([&](state& s) {
    if (s.checks) lift_guard();
    if (s.delays_work) {
      s.order.hurry_all();
      s.advance();
    }
    // If the program ends without waiting for its last kernels, report their errors now. The output
    // of kernels that still run is lost, as on a GPU.
    if (!s.name_running() && s.current && s.fault.ok()) s.synchronize();
    s.order.clear();
    s.registered.remove_module(module_of(handle), s.fault.ok() ? s.current.get() : nullptr);
  });
}

STEPWISE_EXPORT void __cudaRegisterFunction(void** handle, const char* host_function, char*,
                                            const char* device_name, int, uint3*, uint3*, dim3*,
                                            dim3*, int*) {
  if (!handle) return;
  quietly(
      [&](state& s) { s.registered.add_kernel(module_of(handle), host_function, device_name); });
}

STEPWISE_EXPORT void __cudaRegisterVar(void** handle, char* host_variable, char*,
                                       const char* device_name, int, std::size_t, int, int) {
  if (!handle) return;
  quietly(
      [&](state& s) { s.registered.add_variable(module_of(handle), host_variable, device_name); });
}

STEPWISE_EXPORT void __cudaRegisterHostVar(void**, const char*, char*, std::size_t) {}

STEPWISE_EXPORT void __cudaRegisterManagedVar(void** handle, void** place, char*,
                                              const char* device_name, int, std::size_t, int, int) {
  if (!handle) return;
  quietly([&](state&) { module_of(handle)->add_managed(place, device_name); });
}

STEPWISE_EXPORT void __cudaRegisterUnifiedTable(void**, void*) {}

// Host code calls this before its first use of a translation unit's managed variables. The host
// code ignores the result, so without a device it dereferences a null pointer.
STEPWISE_EXPORT char __cudaInitModule(void** handle) {
  const cudaError_t outcome = call([&](state& s) {
    status placed = handle ? module_of(handle)->place_managed(*s.current) : status{};
    announce(placed.message);
    return placed;
  });
  return outcome == cudaSuccess ? 1 : 0;
}

STEPWISE_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                     std::size_t shared_bytes,
                                                     CUstream_st* stream) {
  if (configuration_count == max_nested_launches) return 1;
  const std::uint64_t origin = state::get().checks ? origin_of_launch() : 0;
  configurations[configuration_count++] = {grid, block, shared_bytes, stream, origin};
  return 0;
}

STEPWISE_EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block,
                                                       std::size_t* shared_bytes, void* stream) {
  if (configuration_count == 0) {
    return call_without_device([](state&) {
      return status{error::missing_configuration, "a kernel's stub was called without <<<...>>>"};
    });
  }
  const call_configuration& top = configurations[--configuration_count];
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  if (state::get().checks) next_call_is_launch(top.origin);
  return cudaSuccess;
}

// The stub calls this once and caches the result, so the result must not depend on the device. The
// result is the record that registration made or, for an unregistered function, the function
// itself.
STEPWISE_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  return call_without_device([&](state& s) -> status {
    const void* const found = s.registered.find_kernel(host_function);
    *kernel = static_cast<cudaKernel_t>(const_cast<void*>(found ? found : host_function));
    return {};
  });
}

STEPWISE_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                               void** arguments, std::size_t shared_bytes,
                                               cudaStream_t stream) {
  return launch_kernel({kernel, grid, block, arguments, shared_bytes, stream, false});
}
STEPWISE_EXPORT cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                    void** arguments, std::size_t shared_bytes,
                                                    cudaStream_t stream) {
  return launch_kernel({kernel, grid, block, arguments, shared_bytes, per_thread(stream), false});
}
