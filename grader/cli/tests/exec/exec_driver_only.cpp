// A program for exec_test.cpp. It uses the driver API alone, or also the runtime (WITH_RUNTIME), or
// opens the driver at run time (OPENS_DRIVER).
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdio>

#ifdef OPENS_DRIVER
#include <dlfcn.h>

namespace {
void* driver() { return dlopen("libcuda.so.1", RTLD_NOW); }
CUresult init(unsigned flags) {
  return reinterpret_cast<CUresult (*)(unsigned)>(dlsym(driver(), "cuInit"))(flags);
}
CUresult get_count(int* count) {
  return reinterpret_cast<CUresult (*)(int*)>(dlsym(driver(), "cuDeviceGetCount"))(count);
}
}  // namespace
#define cuInit init
#define cuDeviceGetCount get_count
#endif

int main() {
  int devices = 0;
  const CUresult code = cuInit(0);
#ifdef WITH_RUNTIME
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
#endif
  std::printf("devices %d\n",
              code == CUDA_SUCCESS && cuDeviceGetCount(&devices) == CUDA_SUCCESS ? devices : -1);
  return code;
}
