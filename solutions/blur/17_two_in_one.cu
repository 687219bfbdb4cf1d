// blur 17_two_in_one: two columns' sums in one register.
//
// idea    No sum of the blur reaches 65536. So two of them fit into a word, and one addition of
//         words is two additions: nothing is carried from the lower half into the upper one. The
//         rows' sums are made for it, one on top of the other, and dividing both by 256 and putting
//         four bytes together is a single instruction that picks bytes.
// watch   The root: it is exact, and takes a dozen instructions.
// needs   255 * 256 = 65280 < 65536: the weights add up to 256, and no byte is more than 255.
// source  L. Lamport, "Multiple Byte Processing with Full-Word Instructions" (1975).
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/quads.hpp"
#include "labs/blur/stages.hpp"

constexpr int strip = 30 * 4;        // columns that a warp finds the edges of
constexpr int warps = 4, rows = 64;  // of a block: strips side by side; rows of a strip
constexpr unsigned all_lanes = 0xffffffff;

// The sum of a column's last seven values, with the blur's weights; of two columns, one in each
// half of a word.
class column_sum {
 public:
  __device__ unsigned operator()(unsigned value) {
    const unsigned two = value + value1;  // 1 1
    const unsigned four = two + two2;     // 1 1 1 1
    const unsigned eight = four + four1;  // 1 2 2 2 1
    const unsigned sum = eight + eight2;  // 1 2 3 4 3 2 1
    value1 = value, two2 = two1, two1 = two, four1 = four, eight2 = eight1, eight1 = eight;
    return sum;
  }

 private:
  unsigned value1 = 0, two1 = 0, two2 = 0, four1 = 0, eight1 = 0, eight2 = 0;  // 1 or 2 rows ago
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
  // Four of them, the k-th lowest.
  __device__ unsigned from(int k) const {
    return k % 4 == 0 ? word[k / 4] : __funnelshift_r(word[k / 4], word[k / 4 + 1], 8 * (k % 4));
  }
};

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
    //> todo: two pairs of sums, the pixel further right on top; then bytes 1 and 3 of each pair.
    unsigned sum[2], edges = 0;
    for (int k = 0; k < 2; ++k)
      sum[k] = blur[k](row_sum(grey, 2 * k, row_sum(grey, 2 * k + 1) << 16));
    const unsigned blurred = __byte_perm(sum[0], sum[1], 0x7531);
    //<
    const twelve_bytes b(y >= 3 && y < height + 3 ? blurred & inside : 0);
    for (int k = 0; k < 4; ++k) {
      const unsigned around = b.from(k + 3);
      edges |= edge[k](dot(around, 0x0100ff), dot(around, 0x010201)) << 8 * k;
    }
    if (y >= top + 4 && lane >= 1 && lane <= 30) store_quad<whole>(out, x, y - 4, width, edges);
  }
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  const dim3 blocks(ceil_div(width, strip * warps), ceil_div(height, rows));
  const auto kernel = width % 4 == 0 ? edges_kernel<true> : edges_kernel<false>;
  kernel<<<blocks, dim3(32, warps)>>>(rgba, out, width, height);
  check(cudaGetLastError());
}
