// A histogram: each block counts in shared memory with atomics, then adds its counts to the grid's.
#include "common/emulator/tests/programs/program.hpp"

constexpr int bins = 64;

__global__ void histogram(const unsigned char* in, int n, unsigned* counts) {
  __shared__ unsigned local[bins];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[in[i] % bins], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x) atomicAdd(&counts[i], local[i]);
}

int main() {
  constexpr int n = 50021;
  std::vector<unsigned char> in(n);
  std::vector<unsigned> expected(bins);
  unsigned state = 12345;
  for (unsigned char& byte : in) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<unsigned char>(state >> 24 & state >> 16);  // small values are frequent
    ++expected[byte % bins];
  }
  device_array<unsigned char> values(in);
  device_array<unsigned> counts(bins);
  histogram<<<11, 96>>>(values.get(), n, counts.get());
  finish();
  return compare("histogram", counts.values(), expected);
}
