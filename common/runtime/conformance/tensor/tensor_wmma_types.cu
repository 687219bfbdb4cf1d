// wmma of bf16, tf32, s8, u8 and f64: one tile each, and element-wise operations on fragments. The
// values are small integers, so all sums are exact.
#include <cuda_bf16.h>
#include <mma.h>

#include "common/emulator/tests/programs/program.hpp"

using namespace nvcuda;

__host__ __device__ int a_at(int i) { return i * 7 % 11; }
__host__ __device__ int b_at(int i) { return i * 5 % 13 - 6; }

// c = 2 a b + c / 2 by way of the fragments' elements. Stored are A by rows and B by columns.
template <int M, int N, int K, class Type, class Stored, class Sum>
__global__ void multiply(const Stored* a, const Stored* b, Sum* c) {
  wmma::fragment<wmma::matrix_a, M, N, K, Type, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, M, N, K, Type, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum, product;
  wmma::load_matrix_sync(left, a, K);
  wmma::load_matrix_sync(right, b, K);
  if constexpr (std::is_same_v<Type, wmma::precision::tf32>) {
    for (int e = 0; e < left.num_elements; ++e) left.x[e] = wmma::__float_to_tf32(left.x[e]);
    for (int e = 0; e < right.num_elements; ++e) right.x[e] = wmma::__float_to_tf32(right.x[e]);
  }
  wmma::load_matrix_sync(sum, c, M, wmma::mem_col_major);
  wmma::fill_fragment(product, Sum(1));
  wmma::mma_sync(product, left, right, product);
  for (int e = 0; e < sum.num_elements; ++e) sum.x[e] = 2 * product.x[e] + sum.x[e] / 2;
  wmma::store_matrix_sync(c, sum, M, wmma::mem_col_major);
}

template <int M, int N, int K, class Type, class Stored, class Sum>
int check_type(const char* name) {
  std::vector<Stored> a(M * K), b(N * K);
  std::vector<Sum> c(M * N), expected(M * N);
  constexpr bool is_unsigned = std::is_same_v<Stored, unsigned char>;
  const auto b_value = [](int i) { return is_unsigned ? b_at(i) + 6 : b_at(i); };
  for (int i = 0; i < M * K; ++i) a[i] = static_cast<Stored>(static_cast<float>(a_at(i)));
  for (int i = 0; i < N * K; ++i) b[i] = static_cast<Stored>(static_cast<float>(b_value(i)));
  for (int i = 0; i < M * N; ++i) {
    const int row = i % M, col = i / M;
    c[i] = static_cast<Sum>(2 * (i % 31));
    int sum = 1;
    for (int k = 0; k < K; ++k) sum += a_at(row * K + k) * b_value(col * K + k);
    expected[i] = static_cast<Sum>(2 * sum + i % 31);
  }
  device_array<Stored> da(a), db(b);
  device_array<Sum> dc(c);
  multiply<M, N, K, Type, Stored, Sum><<<1, 32>>>(da.get(), db.get(), dc.get());
  finish();
  return compare(name, dc.values(), expected);
}

int main() {
  using s8 = signed char;
  using u8 = unsigned char;
  return check_type<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float>("wmma bf16") |
         check_type<32, 8, 16, __nv_bfloat16, __nv_bfloat16, float>("wmma bf16, 32x8x16") |
         check_type<8, 32, 16, __nv_bfloat16, __nv_bfloat16, float>("wmma bf16, 8x32x16") |
         check_type<16, 16, 8, wmma::precision::tf32, float, float>("wmma tf32") |
         check_type<16, 16, 16, s8, s8, int>("wmma s8") |
         check_type<32, 8, 16, s8, s8, int>("wmma s8, 32x8x16") |
         check_type<8, 32, 16, u8, u8, int>("wmma u8, 8x32x16") |
         check_type<8, 8, 4, double, double, double>("wmma f64");
}
