// blur 15_strips: warps that walk down the picture, without shared memory.
//
// idea    A lane has four columns, a warp 128, and goes from row to row: what it needs of the rows
//         above is in registers, what it needs of the columns beside it in the lanes beside it. No
//         tile, no barrier, no index to divide: a row is loaded, and four rows further up the edges
//         are known. Rows above each other share their sums, too: four additions for seven rows.
// watch   Instructions: bytes are taken out of words and put back, at every stage.
// needs   The outer two of the 32 lanes are the rim, and store nothing; a strip's rows begin 4 rows
//         above it and end 4 below. A quad's four bytes of grey travel as one word.
// source  P. Micikevicius, "3D Finite Difference Computation on GPUs using CUDA" (2009), for a walk
//         along one direction; (1 + z) (1 + z^2) (1 + z) (1 + z^2) has the weights 1 2 3 4 3 2 1.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/quads.hpp"
#include "labs/blur/stages.hpp"

constexpr int strip = 30 * 4;        // columns that a warp finds the edges of
constexpr int warps = 4, rows = 64;  // of a block: strips side by side; rows of a strip
constexpr unsigned all_lanes = 0xffffffff;

// The sum of a column's last seven values, with the blur's weights.
class column_sum {
 public:
  __device__ int operator()(int value) {
    const int two = value + value1;  // 1 1
    const int four = two + two2;     // 1 1 1 1
    const int eight = four + four1;  // 1 2 2 2 1
    const int sum = eight + eight2;  // 1 2 3 4 3 2 1
    value1 = value, two2 = two1, two1 = two, four1 = four, eight2 = eight1, eight1 = eight;
    return sum;
  }

 private:
  int value1 = 0, two1 = 0, two2 = 0, four1 = 0, eight1 = 0, eight2 = 0;  // 1 or 2 rows ago
};

// The same for edges: of a pixel's row, the difference of its neighbours and 1 2 1 of all three.
class edge_of_column {
 public:
  __device__ int operator()(int difference, int smooth) {
    const int two = difference + difference1, gx = two + two1, gy = smooth - smooth2;
    difference1 = difference, two1 = two, smooth2 = smooth1, smooth1 = smooth;
    return length_of(gx, gy);
  }

 private:
  int difference1 = 0, two1 = 0, smooth1 = 0, smooth2 = 0;
};

__device__ unsigned grey_quad(uint4 colours) {
  const auto* const p = reinterpret_cast<const uchar4*>(&colours);
  return grey_of(p[0]) | grey_of(p[1]) << 8 | grey_of(p[2]) << 16 | grey_of(p[3]) << 24;
}

// A lane's four bytes between those of its neighbours.
struct twelve_bytes {
  unsigned word[3];
  __device__ twelve_bytes(unsigned own)
      : word{__shfl_up_sync(all_lanes, own, 1), own, __shfl_down_sync(all_lanes, own, 1)} {}
  __device__ int operator[](int k) const { return word[k / 4] >> 8 * (k % 4) & 255; }
};

// out = the edges of rgba; `whole` quads, as labs/blur/quads.hpp tells
template <bool whole>
__global__ void edges_kernel(const uchar4* rgba, unsigned char* out, int width, int height) {
  const int lane = threadIdx.x;
  const int x = (blockIdx.x * warps + threadIdx.y) * strip + 4 * (lane - 1);  // the quad's first
  const int top = blockIdx.y * rows, bottom = min(top + rows, height);
  const unsigned inside = bytes_inside(x, width);
  column_sum blur[4];
  edge_of_column edge[4];
  for (int y = top - 4; y < bottom + 4; ++y) {
    const twelve_bytes grey(grey_quad(load_quad<whole>(rgba, x, y, width, height)));
    //> todo: the blurred quad of row y - 3, black outside; the edges of row y - 4, and store them.
    unsigned blurred = 0, edges = 0;
    for (int k = 0; k < 4; ++k) {
      int of_row = 0;
      for (int i = 0; i < 7; ++i) of_row += (i < 4 ? i + 1 : 7 - i) * grey[k + i + 1];
      blurred |= blur[k](of_row) >> 8 << 8 * k;
    }
    const twelve_bytes b(y >= 3 && y < height + 3 ? blurred & inside : 0);
    for (int k = 4; k < 8; ++k)
      edges |= edge[k - 4](b[k + 1] - b[k - 1], b[k - 1] + 2 * b[k] + b[k + 1]) << 8 * (k - 4);
    if (y >= top + 4 && lane >= 1 && lane <= 30) store_quad<whole>(out, x, y - 4, width, edges);
    //<
  }
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  const dim3 blocks(ceil_div(width, strip * warps), ceil_div(height, rows));
  const auto kernel = width % 4 == 0 ? edges_kernel<true> : edges_kernel<false>;
  kernel<<<blocks, dim3(32, warps)>>>(rgba, out, width, height);
  check(cudaGetLastError());
}
