// The host polls words of a larger copy in loops that yield or sleep. Compilers invert these loops:
// the first poll comes before the loop.
#include <chrono>
#include <thread>

constexpr int n = 2048;

struct mailbox {
  int value;
  volatile int ready;
};

__global__ void fill(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 7; }

// A real call in every build, as an accessor is without optimisation.
__attribute__((noinline)) int look(const volatile int* word) { return *word; }

int main() {
  int *results, *device;
  cudaMallocHost(&results, n * sizeof(int));
  cudaMalloc(&device, n * sizeof(int));
  cudaStream_t s;
  cudaStreamCreate(&s);
  volatile int* const last = results + n - 1;
  auto* const box = reinterpret_cast<mailbox*>(results);
  long sum = 0;
  const auto begin = [&] {
    cudaStreamSynchronize(s);
    for (int i = 0; i < n; ++i) results[i] = -1;
    fill<<<n / 256, 256, 0, s>>>(device);
    cudaMemcpyAsync(results, device, n * sizeof(int), cudaMemcpyDeviceToHost, s);
  };

  begin();
  while (*last == -1) std::this_thread::yield();
  sum += results[5];
  begin();
  while (box->ready == -1) std::this_thread::sleep_for(std::chrono::microseconds(50));
  sum += box->value;
  begin();
  while (*last == -1 && cudaStreamQuery(s) != cudaSuccess) {
  }
  sum += results[6];
  begin();
  for (int i = 0; i < n; ++i) {
    while (last[i - n + 1] == -1) std::this_thread::yield();
    sum += results[i];
  }
  begin();
  while (look(last) == -1) std::this_thread::yield();
  sum += results[7];
  begin();
  for (;;) {
    if (look(last) != -1) break;
    std::this_thread::yield();
  }
  sum += results[8];

  cudaStreamSynchronize(s);
  cudaStreamDestroy(s);
  cudaFreeHost(results);
  cudaFree(device);
  return sum == 7 * (5 + n) ? 0 : 1;
}
