// The mbarrier expects only the bytes of the first copy, so its phase may complete while the second
// copy is in flight.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void add(const int* in, int* out) {
  __shared__ alignas(16) int first[64], second[64];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    arrive_and_expect(&full, sizeof first);
    load_bytes(first, in, sizeof first, &full);
    // finding: race writes|copies object=second
    load_bytes(second, in + 64, sizeof second, &full);
  }
  __syncthreads();
  wait_for_phase(&full, 0);
  const int sum = first[threadIdx.x];
  out[threadIdx.x] = sum + second[threadIdx.x];  // finding: reads
}

int main() {
  int* const in = make_array<int>(128, [](int i) { return i; });
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  add<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
