// cp.async by hand: a kernel that streams tiles through two buffers in shared memory, and
// zero-fills what lies beyond the end.
#include "common/emulator/tests/programs/program.hpp"

constexpr int tile = 256;

__device__ void copy_async(void* shared, const void* global, int bytes) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes)
               : "memory");
}

// Sums of neighbours across a tile: y[i] = x[i] + x of the mirrored place in the tile.
__global__ void mirrored(const float* x, float* y, int n) {
  __shared__ alignas(16) float buffer[2][tile];
  const int tiles = (n + tile - 1) / tile;
  const auto fetch = [&](int t) {
    const int at = t * tile + 4 * threadIdx.x;
    const int valid = min(max(n - at, 0), 4);
    copy_async(&buffer[t % 2][4 * threadIdx.x], x + (valid > 0 ? at : 0), 4 * valid);
    asm volatile("cp.async.commit_group;");
  };
  fetch(0);
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) {
      fetch(t + 1);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    for (int k = threadIdx.x; k < tile; k += blockDim.x)
      if (t * tile + k < n) y[t * tile + k] = buffer[t % 2][k] + buffer[t % 2][tile - 1 - k];
    __syncthreads();
  }
}

int main() {
  const int n = 5 * tile + 103;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i % 97) - 0.25f * static_cast<float>(i % 5);
  device_array<float> dx(x), dy(n);
  mirrored<<<1, tile / 4>>>(dx.get(), dy.get(), n);
  finish();
  std::vector<float> expected(n);
  for (int i = 0; i < n; ++i) {
    const int other = i / tile * tile + tile - 1 - i % tile;
    expected[i] = x[i] + (other < n ? x[other] : 0.0f);
  }
  return compare("cp.async tiles", dy.values(), expected);
}
