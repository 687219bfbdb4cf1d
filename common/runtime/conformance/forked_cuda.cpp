// Preloaded: makes a process that was forked from one which had called CUDA as lost as it is with
// NVIDIA's runtime, where every call fails with cudaErrorInitializationError. A program that exec
// starts has a CUDA of its own. Every process counts as one that has called CUDA, as those do that
// ask for the number of GPUs first.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <unistd.h>

namespace {

const pid_t started = getpid();

// Calls the runtime's own function, unless this process was forked from another one.
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
