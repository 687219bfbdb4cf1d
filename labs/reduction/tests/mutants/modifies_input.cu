// reduction mutant: computes the right sum, but in the input array itself, so the next user of the
// array finds other values.
#include "common/lab/ceil_div.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;

__global__ void add_at_distance(int* values, int distance, int n) {
  const long long i = 2LL * distance * (blockIdx.x * block_size + threadIdx.x);
  if (i + distance < n) values[i] += values[i + distance];
}

__global__ void copy(const int* in, int* out) { *out = *in; }

void reduce(const int* in, int* out, int*, int n) {
  for (int distance = 1; distance < n; distance *= 2) {
    const int pairs = ceil_div(n, 2 * distance);
    add_at_distance<<<ceil_div(pairs, block_size), block_size>>>(const_cast<int*>(in), distance, n);
  }
  copy<<<1, 1>>>(in, out);
}
