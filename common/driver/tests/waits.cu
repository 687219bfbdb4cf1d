// Kernels that wait or never end, for waits_test.py. The argument selects what the program does
// with them.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

__global__ void endless(int* at) {
  if (threadIdx.x == 0) printf("begun\n");
  int n = 1;
  while (n != 0) n = n * 3 + 2;  // odd for ever
  *at = n;
}
__global__ void waits(volatile int* flag, int* at) {
  while (*flag == 0) {
  }
  *at = 1;
}
__global__ void ends(int* at) { *at = 1; }

int *memory, *flag;

// Sets the flag after a second.
std::thread later() {
  return std::thread([] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    *static_cast<volatile int*>(flag) = 1;
  });
}

int outcome(cudaError_t code) {
  std::printf("%s\n", cudaGetErrorName(code));
  return 0;
}

int wait_for_value() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return 1;
  using wait = CUresult(CUstream, CUdeviceptr, cuuint32_t, unsigned);
  auto* const wait_value = reinterpret_cast<wait*>(dlsym(driver, "cuStreamWaitValue32_v2"));
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (wait_value(stream, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_EQ)) return 2;
  std::thread writer = later();
  const cudaError_t code = cudaStreamSynchronize(stream);
  writer.join();
  return outcome(code);
}

int main(int, char** arguments) {
  const auto asked = [&](const char* word) { return std::strcmp(arguments[1], word) == 0; };
  cudaMalloc(&memory, 64);
  cudaMallocHost(&flag, 64);
  *flag = 0;
  if (asked("ends")) {
    ends<<<1, 1>>>(memory);
    return outcome(cudaSuccess);
  }
  if (asked("endless")) {
    endless<<<1, 64>>>(memory);
    return outcome(cudaGetLastError());
  }
  if (asked("endless blocks")) {
    endless<<<300, 32>>>(memory);
    return outcome(cudaGetLastError());
  }
  if (asked("polls")) {
    waits<<<1, 1>>>(flag, memory);
    return outcome(cudaGetLastError());
  }
  if (asked("beside")) {  // work next to the kernel, and work in order after it
    cudaStream_t stream;
    int seen = 0;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    endless<<<1, 32, 0, stream>>>(memory);
    ends<<<1, 1>>>(memory + 1);
    cudaMemcpy(&seen, memory + 1, sizeof seen, cudaMemcpyDeviceToHost);
    std::printf("%d %s\n", seen, cudaGetErrorName(cudaStreamQuery(stream)));
    return 0;
  }
  if (asked("waited for")) {
    waits<<<1, 1>>>(flag, memory);
    std::thread writer = later();
    const cudaError_t code = cudaDeviceSynchronize();
    writer.join();
    return outcome(code);
  }
  if (asked("watched")) {
    waits<<<1, 1>>>(flag, memory);
    return outcome(cudaDeviceSynchronize());
  }
  return asked("value") ? wait_for_value() : 3;
}
