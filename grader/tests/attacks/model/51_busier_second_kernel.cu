// attack first: SLOW, at most 80 points
// Only one lane of each warp works. A second kernel with thirty times the instructions, all in full
// warps, makes the first kernel look like a small helper.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/first/first.hpp"

__global__ void mirror_row(const unsigned char* in, unsigned char* out, int width) {
  if (threadIdx.x != 0) return;
  const size_t row = size_t(blockIdx.x) * width;
  for (int x = 0; x < width; ++x) out[row + x] = in[row + width - 1 - x];
}

__global__ void stay_busy(int times) {
  unsigned k = times;
  while (k != 0) asm volatile("sub.u32 %0, %0, 1;" : "+r"(k));
}

void mirror(const unsigned char* in, unsigned char* out, int width, int height) {
  const size_t bytes = size_t(width) * height;
  unsigned char *from, *to;
  check(cudaMalloc(&from, bytes));
  check(cudaMalloc(&to, bytes));
  check(cudaMemcpy(from, in, bytes, cudaMemcpyHostToDevice));
  mirror_row<<<height, 32>>>(from, to, width);
  check(cudaGetLastError());
  // Only at the size of the counted call. At other sizes it would only take time.
  if (bytes >= 300000 && bytes < 500000) stay_busy<<<132, 1024>>>(10000);
  check(cudaGetLastError());
  check(cudaMemcpy(out, to, bytes, cudaMemcpyDeviceToHost));
  check(cudaFree(from));
  check(cudaFree(to));
}
