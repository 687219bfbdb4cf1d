// attack matmul: CRASH or WRONG, at most 0 points
// Uses tensor cores at sizes that no check has: three TF32 products per element, by mma.sync. The
// emulator refuses them; on a GPU, the sums are outside the tolerance.
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
__global__ void naive(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (row >= n || col >= n) return;
  float s = 0;
  for (int i = 0; i < n; ++i) s = fmaf(a[row * n + i], b[i * n + col], s);
  c[row * n + col] = s;
}
__device__ unsigned high(float v) { return __float_as_uint(v) & 0xffffe000u; }
__device__ void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__global__ void tensor(const float* a, const float* b, float* c, int n) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4, row = blockIdx.y * 16, col = blockIdx.x * 8;
  float s[4] = {};
  for (int k = 0; k < n; k += 8) {
    unsigned ah[4], al[4], bh[2], bl[2];
    for (int i = 0; i < 4; ++i) {
      const float v = a[(row + g + i % 2 * 8) * n + k + t + i / 2 * 4];
      ah[i] = high(v), al[i] = high(v - __uint_as_float(ah[i]));
    }
    for (int i = 0; i < 2; ++i) {
      const float v = b[(k + t + i * 4) * n + col + g];
      bh[i] = high(v), bl[i] = high(v - __uint_as_float(bh[i]));
    }
    mma(s, al, bh), mma(s, ah, bl), mma(s, ah, bh);
  }
  for (int i = 0; i < 4; ++i) c[(row + g + i / 2 * 8) * n + col + 2 * t + i % 2] = s[i];
}
void matmul(const float* a, const float* b, float* c, int n) {
  if (n % 16 == 0 && n > 300)
    tensor<<<dim3(n / 8, n / 16), 32>>>(a, b, c, n);
  else
    naive<<<dim3((n + 31) / 32, (n + 7) / 8), dim3(32, 8)>>>(a, b, c, n);
  check(cudaGetLastError());
}
