// blur 21_read_ahead: rows are asked for before they are needed.
//
// idea    A load takes longer than a row's arithmetic. So the colours of the next rows are on their
//         way while this one is worked on: a lane holds four rows' quads that have been asked for,
//         and replaces each, when it takes it, by the one four rows further down. The loop's body
//         stands there four times, so that the registers need not be moved.
// watch   What is left is the way to memory: 5 bytes for each pixel, and the strips' rims.
// needs   Rows below the strip count as long as they are in the picture: a few are loaded in vain.
// source  Little's law, as in the launch lab: bytes on their way = bandwidth times latency.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/quads.hpp"
#include "labs/blur/walk.hpp"

constexpr int strip = 30 * 4, least_rows = 16, warps = 4;  // columns, rows; warps of a block
constexpr int ahead = 4;                                   // rows that are on their way
constexpr float two_23 = 1 << 23, three_22 = 3 << 22;
constexpr int three_22_bits = 0x4b400000;  // of three_22

// The products of four bytes and four weights with a sign, the lowest ones first, and `more`.
__device__ int dot(unsigned bytes, int weights, int more = 0) {
  int sum;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(bytes), "r"(weights), "r"(more));
  return sum;
}

// 1 2 3 4 3 2 1 times the grey bytes around the quad's pixel k, and `more`.
__device__ int row_sum(const twelve_bytes& grey, int k, int more = 0) {
  return dot(grey.from(k + 1), 0x04030201, dot(grey.from(k + 5), 0x00010203, more));
}

// A word whose lowest byte is the whole part of value, 0 <= value < 256.
__device__ unsigned whole_part(float value) { return __float_as_uint(__fadd_rz(value, two_23)); }

// A word whose lowest byte is the root of gx * gx + gy * gy, cut off, at most 255.
__device__ unsigned short_length_of(float gx, float gy) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fmaf(gx, gx, fmaf(gy, gy, 0.5f))));
  return whole_part(fminf(root, 255));
}

// 2^23 plus the k-th byte of a word.
__device__ float with_byte(unsigned word, int k) {
  return __uint_as_float(__byte_perm(word, 0x4b000000, 0x7660 | k));
}

// A word whose lowest byte is the grey of a colour.
__device__ unsigned grey_word(unsigned p) {
  const float red = with_byte(p, 0) - two_23, blue = with_byte(p, 2) - two_23;
  const float green = fmaf(with_byte(p, 1), 0.586811f, -two_23 * 0.586811f);
  return whole_part(fmaf(blue, 0.114350f, fmaf(red, 0.298839f, green)));
}

// out = the edges of rgba, in strips of `rows` rows
__global__ void edges_kernel(const uchar4* rgba, unsigned char* out, int width, int height,
                             int rows) {
  const int lane = threadIdx.x, x = (blockIdx.x * warps + threadIdx.y) * strip + 4 * (lane - 1);
  const int top = blockIdx.y * rows, bottom = min(top + rows, height);
  column_sum<unsigned> blur[2];  // of two columns, one in each half of a word
  column_gradient<float> gradient[4];
  uint4 coming[ahead];
  for (int i = 0; i < ahead; ++i) coming[i] = load_quad(rgba, x, top - 4 + i, width, height);
  for (int first = top - 4; first < bottom + 4; first += ahead) {
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      const int y = first + i;
      uint4 colours = {0, 0, 0, 0};
      //> todo: the row that was asked for; and ask for the one `ahead` rows further down.
      colours = coming[i];
      coming[i] = load_quad(rgba, x, y + ahead, width, height);
      //<
      const twelve_bytes grey(lowest_bytes(grey_word(colours.x), grey_word(colours.y),
                                           grey_word(colours.z), grey_word(colours.w)));
      unsigned sum[2] = {}, edges[4];
      for (int k = 0; k < 2; ++k)
        sum[k] = blur[k](row_sum(grey, 2 * k, row_sum(grey, 2 * k + 1) << 16));
      const unsigned blurred = __byte_perm(sum[0], sum[1], 0x7531);
      const twelve_bytes b(y >= 3 && y < height + 3 ? blurred & bytes_inside(x, width) : 0);
      for (int k = 0; k < 4; ++k) {
        const unsigned around = b.from(k + 3);
        const auto g = gradient[k](__int_as_float(dot(around, 0x0100ff, three_22_bits)) - three_22,
                                   __int_as_float(dot(around, 0x010201, three_22_bits)) - three_22);
        edges[k] = short_length_of(g.x, g.y);
      }
      if (y >= top + 4 && y < bottom + 4 && lane >= 1 && lane <= 30)
        store_quad(out, x, y - 4, width, lowest_bytes(edges[0], edges[1], edges[2], edges[3]));
    }
  }
}

// How many blocks the GPU holds at a time.
int resident_blocks() {
  int multiprocessors = 0, blocks = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, edges_kernel, 32 * warps, 0));
  return multiprocessors * blocks;
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  const int side_by_side = ceil_div(width, strip * warps);
  const int fit = std::max(1, resident_blocks() / side_by_side);
  const int rows = std::max(least_rows, ceil_div(height, fit));
  const dim3 blocks(side_by_side, ceil_div(height, rows));
  edges_kernel<<<blocks, dim3(32, warps)>>>(rgba, out, width, height, rows);
  check(cudaGetLastError());
}
