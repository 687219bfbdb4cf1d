// blur 17_no_conversions: bytes are subnormal floats already, and the weights make up for it.
//
// idea    A multiprocessor converts fewer numbers per cycle than it adds. But a byte among zero
//         bytes is already a subnormal float. Its value is the byte times 2^-149, and 256 times
//         more per byte position. Larger weights compensate. To convert back, add 2^23, rounding
//         down: the lowest byte of the sum is the integer part. With 2^23 + 2^22 instead, numbers
//         may be negative, and a dot product can start from that value.
// watch   A row's work starts when its colours arrive, and they are requested just before.
// needs   The same roundings as in the definition. Factors that are powers of two change no result,
//         as long as no result is subnormal. nvcc keeps subnormals; with -ftz=true they would be 0.
// source  IEEE 754: subnormal numbers; CUDA C++ Programming Guide, "Arithmetic Instructions".
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "solutions/blur/parts/byte_arithmetic.hpp"
#include "solutions/blur/parts/column_filter.hpp"
#include "solutions/blur/parts/column_gradient.hpp"
#include "solutions/blur/parts/neighbour_lanes.hpp"
#include "solutions/blur/parts/vector_access.hpp"

constexpr int strip = 30 * 4, rows = 64, warps = 4;  // columns, rows per warp; warps per block
constexpr float three_22 = 3 << 22;
constexpr int three_22_bits = 0x4b400000;  // the bits of three_22

// A word whose lowest byte is the integer part of value / unit, 0 <= value < 256 * unit.
__device__ inline unsigned whole_part(float value, float unit) {
  return __float_as_uint(__fadd_rz(value, unit * (1 << 23)));
}

// A word whose lowest byte is the square root of gx * gx + gy * gy, truncated, at most 255.
__device__ inline unsigned short_length_of(float gx, float gy) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fmaf(gx, gx, fmaf(gy, gy, 0.5f))));
  return whole_part(fminf(root, 255), 1);
}

// A word whose lowest byte is the grey value of a colour, computed in units of 2^-22.
__device__ inline unsigned grey_word(unsigned p) {
  //> todo: compute the definition with tiny floats and with weights times 2^127, 2^119, 2^111.
  const float red = __uint_as_float(p & 0xff), green = __uint_as_float(p & 0xff00);
  const float blue = __uint_as_float(p & 0xff0000);
  const float red_and_green = fmaf(red, 0.298839f * 0x1p127f, green * (0.586811f * 0x1p119f));
  return whole_part(fmaf(blue, 0.114350f * 0x1p111f, red_and_green), 0x1p-22f);
  //<
}

// out = the edges of rgba
__global__ void edges_kernel(const uchar4* rgba, unsigned char* out, int width, int height) {
  const int lane = threadIdx.x, x = (blockIdx.x * warps + threadIdx.y) * strip + 4 * (lane - 1);
  const int top = blockIdx.y * rows, bottom = min(top + rows, height);
  column_sum<unsigned> blur[2];  // for two columns, one in each half of a word
  column_gradient<float> gradient[4];
  for (int y = top - 4; y < bottom + 4; ++y) {
    const uint4 colours = load_quad(rgba, x, y, width, height);
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
    if (y >= top + 4 && lane >= 1 && lane <= 30)
      store_quad(out, x, y - 4, width, lowest_bytes(edges[0], edges[1], edges[2], edges[3]));
  }
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  const dim3 blocks(ceil_div(width, strip * warps), ceil_div(height, rows));
  edges_kernel<<<blocks, dim3(32, warps)>>>(rgba, out, width, height);
  check(cudaGetLastError());
}
