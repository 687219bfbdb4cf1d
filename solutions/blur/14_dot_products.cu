// blur 14_dot_products: four bytes times four weights in one instruction.
//
// idea    dp4a multiplies the four bytes of a word by those of another and adds all products to an
//         integer. The seven weights of a row span two or three of the words that hold the bytes of
//         the lane and its neighbours; the compiler knows which words. Sums along a row no longer
//         extract bytes from words, neither for the blur nor for the edges.
// watch   In the sums of the columns, four registers hold four numbers of at most 16 bits.
// needs   Weights from -128 to 127. CUDA has functions for two unsigned or two signed words;
//         unsigned bytes with signed weights need a line of PTX.
// source  PTX ISA, "dp4a"; M. Harris, "Mixed-Precision Programming with CUDA 8" (NVIDIA, 2016).
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
  //> todo: add up bytes k + 1 to k + 7, with their weights, in two dot products.
  return dot(grey.from(k + 1), 0x04030201, dot(grey.from(k + 5), 0x00010203, more));
  //<
}

// out = the edges of rgba
__global__ void edges_kernel(const uchar4* rgba, unsigned char* out, int width, int height) {
  const int lane = threadIdx.x, x = (blockIdx.x * warps + threadIdx.y) * strip + 4 * (lane - 1);
  const int top = blockIdx.y * rows, bottom = min(top + rows, height);
  column_sum<int> blur[4];
  column_gradient<int> gradient[4];
  for (int y = top - 4; y < bottom + 4; ++y) {
    const twelve_bytes grey(grey_quad(load_quad(rgba, x, y, width, height)));
    unsigned blurred = 0, edges = 0;
    for (int k = 0; k < 4; ++k) blurred |= blur[k](row_sum(grey, k)) >> 8 << 8 * k;
    const twelve_bytes b(y >= 3 && y < height + 3 ? blurred & bytes_inside(x, width) : 0);
    for (int k = 0; k < 4; ++k) {
      const unsigned around = b.from(k + 3);
      const auto g = gradient[k](dot(around, 0x0100ff), dot(around, 0x010201));
      edges |= length_of(g.x, g.y) << 8 * k;
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
