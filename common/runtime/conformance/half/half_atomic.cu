// Atomic additions of halves, pairs of halves and vectors of floats: sums that are exact in any
// order, in global and in shared memory.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/emulator/tests/programs/program.hpp"

struct sums {
  __half half;
  __nv_bfloat16 brain;
  __half2 pair;
  __nv_bfloat162 brain_pair;
  __half in_block;
  alignas(16) float4 four;
  float2 two;
};

__global__ void add(sums* s) {
  __shared__ __half block;
  if (threadIdx.x == 0) block = __float2half(0.0f);
  __syncthreads();
  const float sign = threadIdx.x % 4 == 3 ? -1.0f : 1.0f;
  atomicAdd(&s->half, __float2half(sign));
  atomicAdd(&s->brain, __float2bfloat16(sign));
  atomicAdd(&s->pair, __floats2half2_rn(sign, 0.5f));
  atomicAdd(&s->brain_pair, __floats2bfloat162_rn(0.25f, -sign));
  atomicAdd(&block, __float2half(0.5f));
  atomicAdd(&s->four, make_float4(1, 2, sign, threadIdx.x));
  atomicAdd(&s->two, make_float2(-1, 0.5f));
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&s->in_block, block);
}

int main() {
  device_array<sums> s(1);
  add<<<4, 64>>>(s.get());  // 256 threads, 64 of them with sign -1
  finish();
  const sums r = s.values()[0];
  const std::vector<float> found = {__half2float(r.half),
                                    __bfloat162float(r.brain),
                                    __low2float(r.pair),
                                    __high2float(r.pair),
                                    __low2float(r.brain_pair),
                                    __high2float(r.brain_pair),
                                    __half2float(r.in_block),
                                    r.four.x,
                                    r.four.y,
                                    r.four.z,
                                    r.four.w,
                                    r.two.x,
                                    r.two.y};
  const std::vector<float> expected = {128, 128, 128, 128,      64,   -128, 128,
                                       256, 512, 128, 4 * 2016, -256, 128};
  return compare("half atomics", found, expected);
}
