// honest reduction: PASS or SLOW, at least 40 points
// aborts if its arrays are closer together than they are under the checks: a program that could
// tell checked runs from others by addresses could hide its races
#include <cstdlib>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int threads = 256;
constexpr std::ptrdiff_t least_room = 32 << 10;  // bytes

__global__ void clear(int* out) { *out = 0; }

__global__ void add_up(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) sum += in[i];
  sum = __reduce_add_sync(0xffffffff, sum);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

void require_room(const void* end, const void* next) {
  const auto* from = static_cast<const char*>(end);
  const auto* to = static_cast<const char*>(next);
  if (to > from && to - from < least_room) std::abort();
}

void reduce(const int* in, int* out, int*, int n) {
  require_room(in + n, out);
  char *first = nullptr, *second = nullptr;
  check(cudaMalloc(&first, 1000));
  check(cudaMalloc(&second, 1000));
  require_room(first + 1000, second);
  clear<<<1, 1>>>(out);
  add_up<<<ceil_div(n, 16 * threads), threads>>>(in, out, n);
  check(cudaGetLastError());
  check(cudaFree(first));
  check(cudaFree(second));
}
