// blur 16_approximate_sqrt: an approximate square root that is exact once it is truncated.
//
// idea    Only the integer part of the root is needed. The root of an integer plus 1/2 is never
//         close to an integer: it is at least 0.25 / 256 away. The GPU's own approximation has an
//         error of at most 2^-23 of the root, far less than that. The truncated result is therefore
//         exact, and takes one instruction. sqrtf, which rounds as IEEE 754 requires, takes a dozen
//         and a branch.
// watch   Each pixel takes six conversions between integers and floats.
// needs   gx * gx + gy * gy + 1/2 exact in a float: it is at most 2 * 1020 * 1020 + 1/2 < 2^22.
// source  PTX ISA, "sqrt": the bound of sqrt.approx.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"
#include "solutions/blur/parts/column_gradient.hpp"
#include "solutions/blur/parts/neighbour_lanes.hpp"
#include "solutions/blur/parts/vector_access.hpp"

constexpr int strip = 30 * 4, rows = 64, warps = 4;  // columns, rows per warp; warps per block

// The sum of a column's last seven values with the weights 1 2 3 4 3 2 1.
template <class number>
class column_sum {
 public:
  __device__ number operator()(number value) {
    const number pair = value + value1;                // 1 1
    const number two_pairs = pair + pair2;             // 1 1 1 1
    const number four_pairs = two_pairs + two_pairs1;  // 1 2 2 2 1
    const number sum = four_pairs + four_pairs2;       // 1 2 3 4 3 2 1
    value1 = value;
    pair2 = pair1;
    pair1 = pair;
    two_pairs1 = two_pairs;
    four_pairs2 = four_pairs1;
    four_pairs1 = four_pairs;
    return sum;
  }

 private:
  number value1 = 0, pair1 = 0, pair2 = 0, two_pairs1 = 0, four_pairs1 = 0,
         four_pairs2 = 0;  // 1 or 2 rows ago
};

// Adds the products of four bytes and four signed weights, the lowest first, to `more`.
__device__ inline int dot(unsigned bytes, int weights, int more = 0) {
  int sum;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(bytes), "r"(weights), "r"(more));
  return sum;
}

// Adds 1 2 3 4 3 2 1 times the grey bytes around the quad's pixel k to `more`.
__device__ inline int row_sum(const twelve_bytes& grey, int k, int more = 0) {
  return dot(grey.from(k + 1), 0x04030201, dot(grey.from(k + 5), 0x00010203, more));
}

// The square root of gx * gx + gy * gy, truncated, at most 255.
__device__ unsigned char short_length_of(int gx, int gy) {
  //> todo: use sqrt.approx.ftz.f32, and add 1/2 to its operand.
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(gx * gx + gy * gy + 0.5f));
  return static_cast<unsigned char>(fminf(root, 255));
  //<
}

// out = the edges of rgba
__global__ void edges_kernel(const uchar4* rgba, unsigned char* out, int width, int height) {
  const int lane = threadIdx.x, x = (blockIdx.x * warps + threadIdx.y) * strip + 4 * (lane - 1);
  const int top = blockIdx.y * rows, bottom = min(top + rows, height);
  column_sum<unsigned> blur[2];  // for two columns, one in each half of a word
  column_gradient<int> gradient[4];
  for (int y = top - 4; y < bottom + 4; ++y) {
    const twelve_bytes grey(grey_quad(load_quad(rgba, x, y, width, height)));
    unsigned sum[2] = {}, edges = 0;
    for (int k = 0; k < 2; ++k)
      sum[k] = blur[k](row_sum(grey, 2 * k, row_sum(grey, 2 * k + 1) << 16));
    const unsigned blurred = __byte_perm(sum[0], sum[1], 0x7531);
    const twelve_bytes b(y >= 3 && y < height + 3 ? blurred & bytes_inside(x, width) : 0);
    for (int k = 0; k < 4; ++k) {
      const unsigned around = b.from(k + 3);
      const auto g = gradient[k](dot(around, 0x0100ff), dot(around, 0x010201));
      edges |= short_length_of(g.x, g.y) << 8 * k;
    }
    if (y >= top + 4 && lane >= 1 && lane <= 30) store_quad(out, x, y - 4, width, edges);
  }
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  const dim3 blocks(ceil_div(width, strip * warps), ceil_div(height, rows));
  edges_kernel<<<blocks, dim3(32, warps)>>>(rgba, out, width, height);
  check(cudaGetLastError());
}
