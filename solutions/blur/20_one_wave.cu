// blur 20_one_wave: strips as high as it takes for all warps to run at once.
//
// idea    Every strip has eight rows more than it finds the edges of: 64 rows cost 72. Higher
// strips
//         cost less, until there are fewer than the GPU holds; and the few that are more than it
//         holds run alone at the end. So: as many as it holds, of equal height.
// watch   A row's work begins when its colours have come, and they are asked for just before.
// needs   No strip of less than 16 rows: for a small picture, the rim would be most of the work.
// source  CUDA Runtime API, cudaOccupancyMaxActiveBlocksPerMultiprocessor; 04_grid_stride of the
//         launch lab.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/quads.hpp"
#include "labs/blur/row_words.hpp"

constexpr int strip = 30 * 4;              // columns that a warp finds the edges of
constexpr int warps = 4, least_rows = 16;  // of a block: strips side by side; rows of a strip
constexpr float two_23 = 1 << 23, three_22 = 3 << 22;
constexpr int three_22_bits = 0x4b400000;  // of three_22

// 2^23 plus the k-th byte of a word.
__device__ float with_byte(unsigned word, int k) {
  return __uint_as_float(__byte_perm(word, 0x4b000000, 0x7660 | k));
}

// A word whose lowest byte is the whole part of value, 0 <= value < 256.
__device__ unsigned whole_part(float value) { return __float_as_uint(__fadd_rz(value, two_23)); }

// The lowest bytes of four words.
__device__ unsigned lowest(const unsigned (&word)[4]) {
  const unsigned low = __byte_perm(word[0], word[1], 0x0040);
  return __byte_perm(low, __byte_perm(word[2], word[3], 0x0040), 0x5410);
}

// The edges of one column, row by row, in a word's lowest byte: of a pixel's row comes the
// difference of its neighbours and 1 2 1 of all three, as the bits of floats that are three_22
// more.
class edge_of_column {
 public:
  __device__ unsigned operator()(int difference_bits, int smooth_bits) {
    const float difference = __int_as_float(difference_bits) - three_22;
    const float smooth = __int_as_float(smooth_bits);
    const float two = difference + difference1, gx = two + two1, gy = smooth - smooth2;
    difference1 = difference, two1 = two, smooth2 = smooth1, smooth1 = smooth;
    return whole_part(fminf(short_root(fmaf(gx, gx, fmaf(gy, gy, 0.5f))), 255));
  }

 private:
  float difference1 = 0, two1 = 0, smooth1 = 0, smooth2 = 0;
};

__device__ unsigned grey_quad(uint4 quad) {
  unsigned grey[4] = {quad.x, quad.y, quad.z, quad.w};
  for (unsigned& pixel : grey) {
    const float red = with_byte(pixel, 0) - two_23, blue = with_byte(pixel, 2) - two_23;
    const float green = fmaf(with_byte(pixel, 1), 0.586811f, -two_23 * 0.586811f);
    pixel = whole_part(fmaf(blue, 0.114350f, fmaf(red, 0.298839f, green)));
  }
  return lowest(grey);
}

// out = the edges of rgba, in strips of `rows` rows; `whole` quads, as labs/blur/quads.hpp tells
template <bool whole>
__global__ void edges_kernel(const uchar4* rgba, unsigned char* out, int width, int height,
                             int rows) {
  const int lane = threadIdx.x;
  const int x = (blockIdx.x * warps + threadIdx.y) * strip + 4 * (lane - 1);  // the quad's first
  const int top = blockIdx.y * rows, bottom = min(top + rows, height);
  const unsigned inside = bytes_inside(x, width);
  column_sum blur[2];
  edge_of_column edge[4];
  for (int y = top - 4; y < bottom + 4; ++y) {
    const twelve_bytes grey(grey_quad(load_quad<whole>(rgba, x, y, width, height)));
    unsigned sum[2], edges[4];
    for (int k = 0; k < 2; ++k)
      sum[k] = blur[k](row_sum(grey, 2 * k, row_sum(grey, 2 * k + 1) << 16));
    const unsigned blurred = __byte_perm(sum[0], sum[1], 0x7531);
    const twelve_bytes b(y >= 3 && y < height + 3 ? blurred & inside : 0);
    for (int k = 0; k < 4; ++k) {
      const unsigned around = b.from(k + 3);
      edges[k] =
          edge[k](dot(around, 0x0100ff, three_22_bits), dot(around, 0x010201, three_22_bits));
    }
    if (y >= top + 4 && lane >= 1 && lane <= 30)
      store_quad<whole>(out, x, y - 4, width, lowest(edges));
  }
}

// Of a strip, for a grid that is on the GPU at once, or nearly.
template <class Kernel>
int rows_of_strip(Kernel kernel, int width, int height) {
  int multiprocessors = 0, blocks = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * warps, 0));
  //> todo: how many strips fit below each other, and how high are they then?
  const int fit = std::max(1, multiprocessors * blocks / ceil_div(width, strip * warps));
  return std::max(least_rows, ceil_div(height, fit));
  //<
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  const auto kernel = width % 4 == 0 ? edges_kernel<true> : edges_kernel<false>;
  const int rows = rows_of_strip(kernel, width, height);
  const dim3 blocks(ceil_div(width, strip * warps), ceil_div(height, rows));
  kernel<<<blocks, dim3(32, warps)>>>(rgba, out, width, height, rows);
  check(cudaGetLastError());
}
