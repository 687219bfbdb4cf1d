// The driver API's ways to wait, including numbers that its streams write for the host. The host
// polls them in pinned memory or through copies from the device.
#include <cuda.h>

__global__ void add(int* x) { x[threadIdx.x] += 1; }

CUdeviceptr at(int* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

int main() {
  int host[32], number, *x, *pinned, *device;
  cudaMalloc(&x, sizeof host);
  cudaMallocHost(&pinned, 64);
  cudaMalloc(&device, 64);
  cudaStream_t all[3] = {nullptr}, apart;
  cudaStreamCreate(&all[1]);
  cudaStreamCreateWithFlags(&all[2], cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  CUevent stop;
  cuEventCreate(&stop, CU_EVENT_DEFAULT);
  cuMemsetD32(at(x), 0, 32);
  for (cudaStream_t one : all) {
    for (int way = 0; way < 8; ++way) {
      *pinned = 0;
      cudaMemset(device, 0, sizeof(int));
      cuCtxSynchronize();
      add<<<1, 32, 0, one>>>(x);
      if (way == 0) cuStreamWriteValue32(one, at(pinned), 1, 0);
      if (way == 0)
        while (*static_cast<volatile int*>(pinned) == 0) {
        }
      if (way == 1) cuStreamWriteValue32(one, at(device), 1, 0);
      if (way == 1)
        for (number = 0; number == 0;) {
          cudaMemcpyAsync(pinned, device, sizeof(int), cudaMemcpyDeviceToHost, apart);
          cudaStreamSynchronize(apart);
          number = *pinned;
        }
      if (way == 2) cuEventRecord(stop, one);
      if (way == 3) cuEventRecord(stop, one == all[2] ? one : nullptr);
      if (way == 2) cuEventSynchronize(stop);
      if (way == 3)
        while (cuEventQuery(stop) == CUDA_ERROR_NOT_READY) {
        }
      if (way == 4) cuStreamSynchronize(one);
      if (way == 5) cuCtxSynchronize();
      if (way == 6) cuMemcpyDtoH(&number, at(device), sizeof number);
      if (way == 7) cuMemsetD32(at(pinned), 0, 1);
      if (way >= 6 && one == all[2]) cuStreamSynchronize(one);  // these ways use the default stream
      add<<<1, 32, 0, apart>>>(x);
    }
  }
  cudaDeviceSynchronize();
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cuEventDestroy(stop);
  for (cudaStream_t s : {all[1], all[2], apart}) cudaStreamDestroy(s);
  cudaFree(x);
  cudaFree(device);
  cudaFreeHost(pinned);
  return host[31] == 48 ? 0 : 1;
}
