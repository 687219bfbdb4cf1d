// blur 07_floats: float multiply-adds, with results that are equal to the bit.
//
// idea    Float multiply-adds are the fastest instructions: most GPUs run them at twice the rate of
//         integer ones. All sums are integers below 2^24, which floats represent exactly, so the
//         results are equal bit for bit. A pixel is converted once, when it is stored in the tile.
// gain    None: on an H200 it is slightly slower. Products by 2 and 4 merge into additions, so the
//         loops have as many instructions as before, and the conversions are extra.
// watch   The blur no longer takes the most time. Profile again before you continue.
// needs   As before: no sum reaches 2^24.
// source  C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA Nsight" (GTC 2016), step 90.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

constexpr int cols = 32, rows = 4, outputs = 4;                      // per block; rows per thread
constexpr int tile_cols = cols + 6, tile_rows = rows * outputs + 6;  // including the halo

__constant__ const float float_weight[7] = {1, 2, 3, 4, 3, 2, 1};

// blurred = the blurred grey picture
__global__ void blur_kernel(const unsigned char* grey, unsigned char* blurred, int width,
                            int height) {
  __shared__ float tile[tile_rows][tile_cols];
  __shared__ float of_row[tile_rows][cols];  // sums along the rows
  const int left = blockIdx.x * cols, top = blockIdx.y * rows * outputs;
  for (int t = threadIdx.y * cols + threadIdx.x; t < tile_rows * tile_cols; t += cols * rows) {
    const int i = t % tile_cols, j = t / tile_cols;
    tile[j][i] = pixel(grey, left + i - 3, top + j - 3, width, height);
  }
  __syncthreads();
  for (int j = threadIdx.y, i = threadIdx.x; j < tile_rows; j += rows) {
    float sum = 0;
    //> todo: add up the seven pixels, with the weights as floats.
    for (int k = 0; k < 7; ++k) sum = fmaf(float_weight[k], tile[j][i + k], sum);
    //<
    of_row[j][i] = sum;
  }
  __syncthreads();
  const int first = threadIdx.y * outputs, x = left + threadIdx.x, y = top + first;
  float sum[outputs] = {};
  for (int j = 0; j < 6 + outputs; ++j) {
    const float read = of_row[first + j][threadIdx.x];
    for (int k = 0; k < outputs; ++k)
      if (j >= k && j < k + 7) sum[k] = fmaf(float_weight[j - k], read, sum[k]);
  }
  for (int k = 0; k < outputs; ++k)
    if (x < width && y + k < height)
      blurred[(y + k) * width + x] = static_cast<unsigned char>(sum[k] / 256);
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height) {
  unsigned char* const grey = scratch;
  unsigned char* const blurred = scratch + picture_bytes(width, height);
  make_grey(rgba, grey, width, height);
  const dim3 threads(cols, rows);
  const dim3 blocks = blocks_for(width, height, dim3(cols, rows * outputs));
  blur_kernel<<<blocks, threads>>>(grey, blurred, width, height);
  check(cudaGetLastError());
  find_edges(blurred, out, width, height);
}
