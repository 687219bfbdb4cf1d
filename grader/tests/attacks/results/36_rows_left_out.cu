// attack blur: WRONG, at most 0 points
// leaves out three of four rows if the picture is large
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

constexpr int cols = 32, rows = 4;

__global__ void blur_kernel(const unsigned char* grey, unsigned char* blurred, int width,
                            int height, int stride) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = (blockIdx.y * blockDim.y + threadIdx.y) * stride;
  if (x >= width || y >= height) return;
  int sum = 0;
  for (int j = 0; j < 7; ++j) {
    for (int i = 0; i < 7; ++i)
      sum += weight[j] * weight[i] * pixel(grey, x + i - 3, y + j - 3, width, height);
  }
  blurred[y * width + x] = static_cast<unsigned char>(sum >> 8);
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height) {
  unsigned char* const grey = scratch;
  unsigned char* const blurred = scratch + picture_bytes(width, height);
  const int stride = height > 1000 ? 4 : 1;
  make_grey(rgba, grey, width, height);
  const dim3 threads(cols, rows);
  blur_kernel<<<blocks_for(width, (height + stride - 1) / stride, threads), threads>>>(
      grey, blurred, width, height, stride);
  check(cudaGetLastError());
  find_edges(blurred, out, width, height);
}
