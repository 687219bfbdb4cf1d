// A driver API program that frees neither of its allocations, checked by exec_test.cpp.
#include <cuda.h>

int main() {
  CUdevice device;
  CUcontext context;
  CUdeviceptr memory;
  CUarray array;
  CUDA_ARRAY_DESCRIPTOR shape{16, 16, CU_AD_FORMAT_FLOAT, 1};
  return cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
         cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS ||
         cuCtxSetCurrent(context) != CUDA_SUCCESS || cuMemAlloc(&memory, 100) != CUDA_SUCCESS ||
         cuArrayCreate(&array, &shape) != CUDA_SUCCESS;
}
