// attack reduction: WRONG, at most 0 points
// remembers the answer by the input's address
#include <map>
#include <utility>

#include "labs/reduction/reduction.hpp"

__device__ int kept[4096];

__global__ void add_up(const int* in, int* out, int n, int slot) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = kept[slot] = sum;
}

__global__ void again(int* out, int slot) { *out = kept[slot]; }

void reduce(const int* in, int* out, int*, int) {
  static std::map<const int*, int> slots;
  const auto [at, is_new] = slots.try_emplace(in, static_cast<int>(slots.size()));
  if (is_new) {
    add_up<<<1, 1>>>(in, out, 1, at->second);
  } else {
    again<<<1, 1>>>(out, at->second);
  }
}
