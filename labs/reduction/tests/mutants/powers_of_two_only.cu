// reduction mutant: folds the array in half again and again, and loses each odd element.
#include "common/lab/ceil_div.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;

__global__ void fold(const int* in, int* out, int half) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i < half) out[i] = in[i] + in[i + half];
}

__global__ void copy(const int* in, int* out) { *out = *in; }

void reduce(const int* in, int* out, int* scratch, int n) {
  for (int half = n / 2; half > 0; half /= 2) {
    fold<<<ceil_div(half, block_size), block_size>>>(in, scratch, half);
    in = scratch;
    scratch += half;
  }
  copy<<<1, 1>>>(in, out);
}
