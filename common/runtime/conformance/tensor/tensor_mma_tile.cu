// mma.sync as tuned kernels use it: tiles that cp.async brings to shared memory, ldmatrix for A and
// ldmatrix.trans for B, m16n8k16 with f32 sums, stmatrix for the result in f16.
#include <cuda_fp16.h>

#include "common/emulator/tests/programs/program.hpp"

constexpr int size = 64, tile = 32;

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Two warps; each computes 16 rows of a tile of 32 by 32 in four products of 16 by 8.
__global__ void multiply(const half* a, const half* b, half* c) {
  __shared__ alignas(16) half left[tile][tile + 8], right[tile][tile + 8], result[tile][tile + 8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = tile * blockIdx.y, col = tile * blockIdx.x;
  float sum[4][4] = {};
  for (int k = 0; k < size; k += tile) {
    for (int i = threadIdx.x; i < tile * tile / 8; i += 64) {
      const int r = i / 4, s = i % 4 * 8;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&left[r][s])),
                   "l"(a + (row + r) * size + k + s));
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&right[r][s])),
                   "l"(b + (k + r) * size + col + s));
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (int step = 0; step < tile; step += 16) {
      unsigned x[4];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                   : "r"(shared_address(&left[16 * warp + lane % 16][step + lane / 16 * 8]))
                   : "memory");
      for (int n = 0; n < 4; ++n) {
        unsigned y[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(y[0]), "=r"(y[1])
                     : "r"(shared_address(&right[step + lane % 16][8 * n]))
                     : "memory");
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sum[n][0]), "+f"(sum[n][1]), "+f"(sum[n][2]), "+f"(sum[n][3])
            : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
      }
    }
    __syncthreads();
  }
  for (int n = 0; n < 4; ++n) {
    half2 low = __floats2half2_rn(sum[n][0], sum[n][1]);
    half2 high = __floats2half2_rn(sum[n][2], sum[n][3]);
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(
                     shared_address(&result[16 * warp + lane % 16][8 * n])),
                 "r"(reinterpret_cast<unsigned&>(low)), "r"(reinterpret_cast<unsigned&>(high))
                 : "memory");
  }
  __syncthreads();
  for (int i = threadIdx.x; i < tile * tile; i += 64)
    c[(row + i / tile) * size + col + i % tile] = result[i / tile][i % tile];
}

int main() {
  std::vector<half> a(size * size), b(size * size);
  std::vector<float> x(size * size), y(size * size), expected(size * size), found;
  for (int i = 0; i < size * size; ++i) {
    x[i] = static_cast<float>(i * 7 % 11 - 5);
    y[i] = static_cast<float>(i * 5 % 13 - 6) * 0.5f;
    a[i] = __float2half(x[i]);
    b[i] = __float2half(y[i]);
  }
  for (int i = 0; i < size * size; ++i)
    for (int k = 0; k < size; ++k) expected[i] += x[i / size * size + k] * y[k * size + i % size];
  device_array<half> da(a), db(b), dc(size * size);
  multiply<<<dim3(size / tile, size / tile), 64>>>(da.get(), db.get(), dc.get());
  finish();
  for (const half h : dc.values()) found.push_back(__half2float(h));
  return compare("mma with ldmatrix and stmatrix", found, expected);
}
