// blur 19_no_conversions: bytes become floats, and floats bytes, by putting bits together.
//
// idea    A multiprocessor has fewer places that convert numbers than places that add them. But the
//         float 2^23 + b has the integer b in its lowest bits: a byte below 0x4b0000 is one, and
//         2^23 is subtracted. Backwards, 2^23 is added, rounded down, and the lowest byte is the
//         whole part. With 2^23 + 2^22 numbers may have a sign, and a dot product can begin there.
// watch   A row's work begins when its colours have come, and they are asked for just before.
// needs   The roundings of the definition. 2^23 w is exact for any float w, so a single fmaf of
//         2^23 + g makes the rounded product of g; red and blue need the difference first.
// source  IEEE 754: floats of 24 bits; CUDA C++ Programming Guide, "Arithmetic Instructions".
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/quads.hpp"
#include "labs/blur/row_words.hpp"

constexpr int strip = 30 * 4;        // columns that a warp finds the edges of
constexpr int warps = 4, rows = 64;  // of a block: strips side by side; rows of a strip
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
    //> todo: the pixel's grey, in a word's lowest byte.
    const float red = with_byte(pixel, 0) - two_23, blue = with_byte(pixel, 2) - two_23;
    const float green = fmaf(with_byte(pixel, 1), 0.586811f, -two_23 * 0.586811f);
    pixel = whole_part(fmaf(blue, 0.114350f, fmaf(red, 0.298839f, green)));
    //<
  }
  return lowest(grey);
}

// out = the edges of rgba; `whole` quads, as labs/blur/quads.hpp tells
template <bool whole>
__global__ void edges_kernel(const uchar4* rgba, unsigned char* out, int width, int height) {
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

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  const dim3 blocks(ceil_div(width, strip * warps), ceil_div(height, rows));
  const auto kernel = width % 4 == 0 ? edges_kernel<true> : edges_kernel<false>;
  kernel<<<blocks, dim3(32, warps)>>>(rgba, out, width, height);
  check(cudaGetLastError());
}
