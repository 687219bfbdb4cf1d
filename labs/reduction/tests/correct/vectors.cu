// reduction, correct: a thread adds four vectors at a time.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;
constexpr int max_blocks = 1024;

// out[b] = the sum of the elements that the threads of block b added
__global__ void reduce_kernel(const int* in, int* out, int n) {
  __shared__ unsigned partial[block_size];
  const int tid = threadIdx.x;
  unsigned sum = 0;
  const int stride = gridDim.x * block_size;
  const uint4* in4 = reinterpret_cast<const uint4*>(in);
  const int n4 = n / 4;
  const int first = blockIdx.x * block_size + tid;
  for (long long i = first; i < n4; i += 4LL * stride) {
    uint4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      v[k] = i + static_cast<long long>(k) * stride < n4
                 ? in4[i + static_cast<long long>(k) * stride]
                 : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < 4; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  if (first < n % 4) sum += in[4 * n4 + first];
  partial[tid] = sum;
  __syncthreads();
  for (int s = block_size / 2; s > 32; s /= 2) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();
  }
  if (tid < 32) {
    sum = partial[tid] + partial[tid + 32];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
    if (tid == 0) out[blockIdx.x] = sum;
  }
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int blocks = min(ceil_div(n, 2 * block_size), max_blocks);
  reduce_kernel<<<blocks, block_size>>>(in, blocks == 1 ? out : scratch, n);
  check(cudaGetLastError());
  if (blocks > 1) {
    reduce_kernel<<<1, block_size>>>(scratch, out, blocks);
    check(cudaGetLastError());
  }
}
