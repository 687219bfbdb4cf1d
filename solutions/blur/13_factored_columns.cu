// blur 13_factored_columns: the sums of seven rows in four additions.
//
// idea    1 2 3 4 3 2 1 is (1 + z) (1 + z^2) (1 + z) (1 + z^2), where z is "one row earlier": add
//         the value before, add the pair two rows before, and do both once more. The earlier
//         values and pairs are in registers already, so four additions replace seven products.
// gain    None yet: it is no faster at 7680 x 4320, and slower at 16384 x 16384.
// watch   Bytes are extracted from words and packed again at every stage, which is the limit now.
// needs   Sums that are exact in any order, as integer sums are.
// source  P. Heckbert, "Filtering by Repeated Integration" (1986), for filters made of boxes.
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
  //> todo: write operator()(value): add pairs, pairs of pairs, ...; keep what the next rows need.
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
  //<

 private:
  number value1 = 0, pair1 = 0, pair2 = 0, two_pairs1 = 0, four_pairs1 = 0,
         four_pairs2 = 0;  // 1 or 2 rows ago
};

// out = the edges of rgba
__global__ void edges_kernel(const uchar4* rgba, unsigned char* out, int width, int height) {
  const int lane = threadIdx.x, x = (blockIdx.x * warps + threadIdx.y) * strip + 4 * (lane - 1);
  const int top = blockIdx.y * rows, bottom = min(top + rows, height);
  column_sum<int> blur[4];
  column_gradient<int> gradient[4];
  for (int y = top - 4; y < bottom + 4; ++y) {
    const twelve_bytes grey(grey_quad(load_quad(rgba, x, y, width, height)));
    unsigned blurred = 0, edges = 0;
    //> todo: sum up each pixel's row with the weights, and pass the sum to its column.
    for (int k = 0; k < 4; ++k) {
      int of_row = 0;
      for (int i = 0; i < 7; ++i) of_row += weight[i] * grey[k + i + 1];
      blurred |= blur[k](of_row) >> 8 << 8 * k;
    }
    //<
    const twelve_bytes b(y >= 3 && y < height + 3 ? blurred & bytes_inside(x, width) : 0);
    for (int k = 0; k < 4; ++k) {
      const auto g = gradient[k](b[k + 5] - b[k + 3], b[k + 3] + 2 * b[k + 4] + b[k + 5]);
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
