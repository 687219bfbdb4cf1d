// mbarrier by inline PTX: a ring of buffers with "full" and "empty" barriers, waits by parity, a
// producer warp and a consumer warp at different speeds.
#include "common/emulator/tests/programs/program.hpp"

constexpr int slots = 3, rounds = 20;

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void init(unsigned bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
__device__ void arrive(unsigned bar) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(bar)
               : "memory");
}
__device__ void wait(unsigned bar, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(bar),
      "r"(parity)
      : "memory");
}

__global__ void ring(const int* x, int* y) {
  __shared__ int buffer[slots][32];
  __shared__ alignas(8) unsigned long long full[slots], empty[slots];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0)
    for (int s = 0; s < slots; ++s) {
      init(shared_address(&full[s]), 32);
      init(shared_address(&empty[s]), 32);
    }
  __syncthreads();
  int sum = lane;
  for (int t = 0; t < rounds; ++t) {
    const int s = t % slots;
    const unsigned parity = t / slots % 2;
    if (threadIdx.x < 32) {
      wait(shared_address(&empty[s]), parity ^ 1);
      buffer[s][lane] = x[32 * t + lane];
      arrive(shared_address(&full[s]));
    } else {
      if (t % 4 == 0) __nanosleep(50);
      wait(shared_address(&full[s]), parity);
      sum = 3 * sum + buffer[s][31 - lane];
      arrive(shared_address(&empty[s]));
    }
  }
  if (threadIdx.x >= 32) y[lane] = sum;
}

int main() {
  std::vector<int> x(32 * rounds), expected(32);
  for (int i = 0; i < 32 * rounds; ++i) x[i] = i * 31 % 127;
  for (int lane = 0; lane < 32; ++lane) {
    unsigned sum = lane;
    for (int t = 0; t < rounds; ++t) sum = 3 * sum + static_cast<unsigned>(x[32 * t + 31 - lane]);
    expected[lane] = static_cast<int>(sum);
  }
  device_array<int> dx(x), dy(32);
  ring<<<1, 64>>>(dx.get(), dy.get());
  finish();
  return compare("mbarrier ring", dy.values(), expected);
}
