// matmul 08_vector_loads: four floats per load, from global and from shared memory.
//
// idea    One instruction can move 16 bytes per lane. a's tile is kept transposed, so that a
//         thread's 8 floats of column k are adjacent: two loads instead of eight. (The floats of b
//         were adjacent before, and ptxas merged their loads.) The tiles are also fetched four
//         floats at a time.
// watch   There are bank conflicts. Adjacent lanes read b's tile 8 floats apart, so half of the
//         banks idle. Also, a's tile is written down its columns, two lanes to a bank.
// needs   Accesses of 16 bytes need addresses that are multiples of 16. If n is not a multiple of
//         4, most rows do not start at such an address, and their floats are fetched one by one.
// source  S. Boehm, SGEMM_CUDA (2022), kernel 6.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int cols = 128;       // of c per block
constexpr int rows = 128;       // of c per block
constexpr int depth = 8;        // columns of a, rows of b, between two barriers
constexpr int thread_tile = 8;  // rows and columns of c per thread
constexpr int threads = (rows / thread_tile) * (cols / thread_tile);

// Four floats, the first of which lies at a multiple of 16 bytes.
__device__ float4& as_float4(float& first) { return reinterpret_cast<float4&>(first); }

// m[row][col], ..., m[row][col + 3]; 0 outside the matrix. col is a multiple of 4.
__device__ float4 load4(const float* m, int row, int col, int n) {
  if (row >= n || col >= n) return {0, 0, 0, 0};
  const float* first = m + row * n + col;
  if (n % 4 == 0) return *reinterpret_cast<const float4*>(first);
  return {first[0], col + 1 < n ? first[1] : 0, col + 2 < n ? first[2] : 0,
          col + 3 < n ? first[3] : 0};
}

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  alignas(16) __shared__ float a_tile[depth][rows];  // transposed
  alignas(16) __shared__ float b_tile[depth][cols];
  const int tid = threadIdx.x;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  const int y0 = tid / (cols / thread_tile) * thread_tile,
            x0 = tid % (cols / thread_tile) * thread_tile;

  float sum[thread_tile][thread_tile] = {};
  for (int k0 = 0; k0 < n; k0 += depth) {
    for (int i = 0; i < rows * depth; i += 4 * threads) {
      const int y = (i + 4 * tid) / depth, k = (i + 4 * tid) % depth;
      const float4 a4 = load4(a, row0 + y, k0 + k, n);
      a_tile[k][y] = a4.x;
      a_tile[k + 1][y] = a4.y;
      a_tile[k + 2][y] = a4.z;
      a_tile[k + 3][y] = a4.w;
    }
    for (int i = 0; i < depth * cols; i += 4 * threads) {
      const int k = (i + 4 * tid) / cols, x = (i + 4 * tid) % cols;
      as_float4(b_tile[k][x]) = load4(b, k0 + k, col0 + x, n);
    }
    __syncthreads();  // every thread has fetched its part
    for (int k = 0; k < depth; ++k) {
      //> todo: read the thread's 8 floats of each tile, four at a time, and add their products.
      alignas(16) float a_k[thread_tile], b_k[thread_tile];
      for (int i = 0; i < thread_tile; i += 4) as_float4(a_k[i]) = as_float4(a_tile[k][y0 + i]);
      for (int j = 0; j < thread_tile; j += 4) as_float4(b_k[j]) = as_float4(b_tile[k][x0 + j]);
      for (int i = 0; i < thread_tile; ++i) {
        for (int j = 0; j < thread_tile; ++j) sum[i][j] = fmaf(a_k[i], b_k[j], sum[i][j]);
      }
      //<
    }
    __syncthreads();  // every thread has used the tiles
  }

  for (int i = 0; i < thread_tile; ++i) {
    for (int j = 0; j < thread_tile; ++j) {
      const int row = row0 + y0 + i, col = col0 + x0 + j;
      if (row < n && col < n) c[row * n + col] = sum[i][j];
    }
  }
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 grid(ceil_div(n, cols), ceil_div(n, rows));
  matmul_kernel<<<grid, threads>>>(a, b, c, n);
  check(cudaGetLastError());
}
