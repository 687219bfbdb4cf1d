// The block expects the bytes only after it has issued the copies, as cuda::memcpy_async does. The
// phase cannot complete before the arrival.
#include "common/emulator/check/tests/programs/async_units.hpp"

__device__ void expect(mbarrier* barrier, unsigned bytes) {
  asm volatile(
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

__global__ void add(const int* in, int* out) {
  __shared__ alignas(16) int first[64], second[64];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    load_bytes(first, in, sizeof first, &full);
    load_bytes(second, in + 64, sizeof second, &full);
    expect(&full, sizeof first + sizeof second);
    arrive(&full);
  }
  __syncthreads();
  wait_for_phase(&full, 0);
  out[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}

int main() {
  int* const in = make_array<int>(128, [](int i) { return i; });
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  add<<<1, 64>>>(in, out);
  const bool right = holds(out, 64, [](int i) { return 2 * i + 64; });
  cudaFree(in);
  cudaFree(out);
  return right ? 0 : 1;
}
