// A preloaded library that makes every CUDA call in a forked process fail with
// cudaErrorInitializationError. NVIDIA's runtime does so if the parent has called CUDA. We assume
// that every parent has called CUDA, for example to query the number of GPUs. After exec, CUDA
// works again.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <unistd.h>

namespace {

const pid_t started = getpid();

// Calls the runtime's own function, unless this process was forked from another process.
template <class... Parameters>
cudaError_t call(const char* name, Parameters... values) {
  if (getpid() != started) return cudaErrorInitializationError;
  const auto function = reinterpret_cast<cudaError_t (*)(Parameters...)>(dlsym(RTLD_NEXT, name));
  return function == nullptr ? cudaErrorUnknown : function(values...);
}

}  // namespace

extern "C" cudaError_t cudaMalloc(void** memory, size_t bytes) {
  return call("cudaMalloc", memory, bytes);
}
extern "C" cudaError_t cudaMallocHost(void** memory, size_t bytes) {
  return call("cudaMallocHost", memory, bytes);
}
extern "C" cudaError_t cudaDeviceSynchronize() { return call("cudaDeviceSynchronize"); }
