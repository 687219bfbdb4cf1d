// wmma: a matrix product of f16 with f32 sums, tile by tile, with all layouts of A and B, and the
// shapes 32x8x16 and 8x32x16 with f16 sums. The values are small integers, so all sums are exact.
#include <cuda_fp16.h>
#include <mma.h>

#include "common/emulator/tests/programs/program.hpp"

using namespace nvcuda;
constexpr int size = 64;  // of square matrices

template <class LayoutA, class LayoutB>
__global__ void multiply(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, LayoutA> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, LayoutB> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.5f);
  const int row = 16 * blockIdx.y, col = 16 * blockIdx.x;
  constexpr bool a_rows = std::is_same_v<LayoutA, wmma::row_major>;
  constexpr bool b_rows = std::is_same_v<LayoutB, wmma::row_major>;
  for (int k = 0; k < size; k += 16) {
    wmma::load_matrix_sync(left, a + (a_rows ? row * size + k : k * size + row), size);
    wmma::load_matrix_sync(right, b + (b_rows ? k * size + col : col * size + k), size);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * size + col, sum, size, wmma::mem_row_major);
}

// One tile of m by n from shared memory; the sum has a place's own value added.
template <int M, int N>
__global__ void multiply_tile(const half* a, const half* b, half* c) {
  __shared__ half left_tile[M * 16], right_tile[16 * N], sums[M * N];
  for (int i = threadIdx.x; i < M * 16; i += 32) left_tile[i] = a[i];
  for (int i = threadIdx.x; i < 16 * N; i += 32) right_tile[i] = b[i];
  for (int i = threadIdx.x; i < M * N; i += 32) sums[i] = __float2half(static_cast<float>(i % 9));
  __syncwarp();
  wmma::fragment<wmma::matrix_a, M, N, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, M, N, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, M, N, 16, half> sum;
  wmma::load_matrix_sync(left, left_tile, 16);
  wmma::load_matrix_sync(right, right_tile, N);
  wmma::load_matrix_sync(sum, sums, N, wmma::mem_row_major);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, N, wmma::mem_row_major);
}

float a_at(int i) { return static_cast<float>(i * 7 % 11 - 5); }
float b_at(int i) { return static_cast<float>(i * 5 % 13 - 6); }

template <class LayoutA, class LayoutB>
int check_layouts(const char* name, const half* a, const half* b) {
  constexpr bool a_rows = std::is_same_v<LayoutA, wmma::row_major>;
  constexpr bool b_rows = std::is_same_v<LayoutB, wmma::row_major>;
  device_array<float> c(size * size);
  multiply<LayoutA, LayoutB><<<dim3(size / 16, size / 16), 32>>>(a, b, c.get());
  finish();
  std::vector<float> expected(size * size, 0.5f);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      for (int k = 0; k < size; ++k)
        expected[i * size + j] +=
            a_at(a_rows ? i * size + k : k * size + i) * b_at(b_rows ? k * size + j : j * size + k);
  return compare(name, c.values(), expected);
}

template <int M, int N>
int check_tile(const char* name, const half* a, const half* b) {
  device_array<half> c(M * N);
  multiply_tile<M, N><<<1, 32>>>(a, b, c.get());
  finish();
  std::vector<float> expected(M * N), found;
  for (int i = 0; i < M * N; ++i) {
    expected[i] = static_cast<float>(i % 9);
    for (int k = 0; k < 16; ++k) expected[i] += a_at(i / N * 16 + k) * b_at(k * N + i % N);
  }
  for (const half h : c.values()) found.push_back(__half2float(h));
  return compare(name, found, expected);
}

int main() {
  std::vector<half> a(size * size), b(size * size);
  for (int i = 0; i < size * size; ++i) {
    a[i] = __float2half(a_at(i));
    b[i] = __float2half(b_at(i));
  }
  device_array<half> da(a), db(b);
  const half *x = da.get(), *y = db.get();
  using wmma::col_major;
  using wmma::row_major;
  return check_layouts<row_major, row_major>("wmma, rows by rows", x, y) |
         check_layouts<row_major, col_major>("wmma, rows by columns", x, y) |
         check_layouts<col_major, row_major>("wmma, columns by rows", x, y) |
         check_layouts<col_major, col_major>("wmma, columns by columns", x, y) |
         check_tile<32, 8>("wmma 32x8x16 in f16", x, y) |
         check_tile<8, 32>("wmma 8x32x16 in f16", x, y);
}
