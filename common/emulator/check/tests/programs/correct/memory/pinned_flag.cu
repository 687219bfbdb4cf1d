// A kernel waits for the host, which writes pinned memory while the kernel runs.
#include <chrono>
#include <thread>

__global__ void wait(volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  *out = 1;
}

int main() {
  int *flag, *out, host = 0;
  cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped);
  cudaMalloc(&out, sizeof(int));
  *flag = 0;
  std::thread sets([flag] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    *static_cast<volatile int*>(flag) = 1;
  });
  wait<<<1, 1>>>(flag, out);
  cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
  sets.join();
  cudaFreeHost(flag);
  cudaFree(out);
  return host == 1 ? 0 : 1;
}
