// Programs that do not end by themselves, for signals_test.py. The argument selects one.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

int* flag = nullptr;  // in pinned memory: the host may write it at any time

void set_flag(int) { *static_cast<volatile int*>(flag) = 1; }

// Each warp reads words that the other warp writes.
__device__ int races() {
  __shared__ int line[64];
  line[threadIdx.x] = static_cast<int>(threadIdx.x);
  return line[63 - threadIdx.x];  // here: race
}

}  // namespace

__global__ void waits(volatile int* wanted, int* out) {
  out[threadIdx.x] = races();
  while (*wanted == 0) {  // here: poll
  }
}

__global__ void computes(int* out, int steps) {
  unsigned sum = races();
  for (unsigned n = 0; n < 4000000000U; ++n)
    for (int k = 0; k != steps; ++k) sum = sum * 1664525 + 1013904223;  // here: compute
  out[threadIdx.x] = static_cast<int>(sum);
}

// The first warp waits for the second one.
__global__ void half_computes(int* out, unsigned steps) {
  unsigned sum = races();
  if (threadIdx.x >= 32)
    for (unsigned n = 0; n < steps; ++n) sum = sum * 1664525 + n;  // here: half
  __syncthreads();
  out[threadIdx.x] = static_cast<int>(sum);
}

__global__ void ends(int* out) { out[threadIdx.x] = races(); }

int main(int, char** words) {
  const char* const which = words[1];
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMallocHost(&flag, sizeof(int));
  *flag = 0;
  if (std::strcmp(which, "own_handler") == 0) std::signal(SIGINT, set_flag);
  std::puts("begins");
  std::fflush(stdout);
  if (std::strcmp(which, "computes") == 0) {
    computes<<<1, 64>>>(out, 1000);
  } else if (std::strcmp(which, "half") == 0) {
    half_computes<<<1, 64>>>(out, 4000000000U);
  } else if (std::strcmp(which, "host") == 0) {
    ends<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    std::this_thread::sleep_for(std::chrono::seconds(30));
  } else if (std::strcmp(which, "other_stream") == 0) {
    // A copy in another stream may end the kernel.
    int* on_device;
    cudaStream_t one, other;
    cudaMalloc(&on_device, sizeof(int));
    cudaMemset(on_device, 0, sizeof(int));
    cudaStreamCreate(&one);
    cudaStreamCreate(&other);
    waits<<<1, 64, 0, one>>>(on_device, out);
  } else if (std::strcmp(which, "later_stream") == 0) {
    // The stream whose copy ends the kernel does not exist yet.
    int* on_device;
    cudaStream_t later;
    cudaMalloc(&on_device, sizeof(int));
    cudaMemset(on_device, 0, sizeof(int));
    waits<<<1, 64>>>(on_device, out);
    if (cudaStreamCreateWithFlags(&later, cudaStreamNonBlocking) == cudaSuccess)
      cudaMemsetAsync(on_device, 1, sizeof(int), later);
  } else if (std::strcmp(which, "later_in_stream") == 0) {
    int* on_device;
    cudaStream_t one, later;
    cudaMalloc(&on_device, sizeof(int));
    cudaMemset(on_device, 0, sizeof(int));
    cudaStreamCreate(&one);
    waits<<<1, 64, 0, one>>>(on_device, out);
    if (cudaStreamCreate(&later) == cudaSuccess) cudaMemsetAsync(on_device, 1, sizeof(int), later);
  } else if (std::strcmp(which, "thread") == 0) {
    std::thread([out] { waits<<<1, 64>>>(flag, out); }).join();
  } else {
    waits<<<1, 64>>>(flag, out);
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(out);
  cudaFreeHost(flag);
  return 0;
}
