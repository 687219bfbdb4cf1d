// Driver API calls that fail. Checks must report the text after "here:" for that line. All other
// results are used by the program, or are not errors.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>

static void check(CUresult result) {
  if (result != CUDA_SUCCESS) std::abort();
}

int main() {
  int count = 0;
  cuDeviceGetCount(&count);  // here: cuDeviceGetCount() failed with CUDA_ERROR_NOT_INITIALIZED
  check(cuInit(0));
  CUdevice device;
  check(cuDeviceGet(&device, 0));
  cuDeviceGet(&device, 7);  // here: cuDeviceGet() failed with CUDA_ERROR_INVALID_DEVICE
  CUcontext context;
  check(cuDevicePrimaryCtxRetain(&context, device));
  CUdeviceptr memory;
  cuMemAlloc(&memory, 64);  // here: cuMemAlloc() failed with CUDA_ERROR_INVALID_CONTEXT
  check(cuCtxSetCurrent(context));
  check(cuMemAlloc(&memory, 64));
  char host[128] = {};
  cuMemcpyHtoD(memory, host, 65);    // here: cuMemcpyHtoD() failed with CUDA_ERROR_INVALID_VALUE
  cuMemsetD8(memory, 0, 65);         // here: cuMemsetD8() failed with CUDA_ERROR_INVALID_VALUE
  cuMemcpyDtoH(host, memory, 1000);  // here: cuMemcpyDtoH() failed with CUDA_ERROR_INVALID_VALUE
  CUmodule module;
  // here: cuModuleLoadData() failed with CUDA_ERROR_INVALID_
  cuModuleLoadData(&module, "no module");
  const CUresult kept = cuMemcpyHtoD(memory, host, 65);
  if (kept == CUDA_SUCCESS || cuMemsetD8(memory, 0, 66) == CUDA_SUCCESS) return 1;
  std::printf("%d\n", static_cast<int>(cuDeviceGet(&device, 7)));
  cuStreamQuery(nullptr);
  check(cuMemFree(memory));
  check(cuDevicePrimaryCtxRelease(device));
  return 0;
}
