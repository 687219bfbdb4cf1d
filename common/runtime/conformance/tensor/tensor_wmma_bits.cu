// wmma of 4-bit integers and of bits (experimental in the C++ API): one tile each.
#include <mma.h>

#include "common/emulator/tests/programs/program.hpp"

using namespace nvcuda;
namespace experimental = nvcuda::wmma::experimental;

__global__ void multiply_s4(const int* a, const int* b, int* c) {
  wmma::fragment<wmma::matrix_a, 8, 8, 32, experimental::precision::s4, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, experimental::precision::s4, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> sum;
  wmma::load_matrix_sync(left, a, 32);
  wmma::load_matrix_sync(right, b, 32);
  wmma::fill_fragment(sum, 100);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, 8, wmma::mem_row_major);
}

__global__ void multiply_bits(const unsigned* a, const unsigned* b, int* both, int* different) {
  wmma::fragment<wmma::matrix_a, 8, 8, 128, experimental::precision::b1, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, experimental::precision::b1, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
  wmma::load_matrix_sync(left, a, 128);
  wmma::load_matrix_sync(right, b, 128);
  wmma::fill_fragment(sum, -3);
  wmma::bmma_sync(sum, left, right, sum, experimental::bmmaBitOpAND,
                  experimental::bmmaAccumulateOpPOPC);
  wmma::store_matrix_sync(both, sum, 8, wmma::mem_row_major);
  wmma::fill_fragment(sum, 4);
  wmma::bmma_sync(sum, left, right, sum, experimental::bmmaBitOpXOR,
                  experimental::bmmaAccumulateOpPOPC);
  wmma::store_matrix_sync(different, sum, 8, wmma::mem_row_major);
}

int main() {
  std::vector<int> a(8 * 4), b(8 * 4), c(64, 100);
  std::vector<unsigned> x(8 * 4), y(8 * 4);
  std::vector<int> both(64, -3), different(64, 4);
  for (int i = 0; i < 32; ++i) {
    a[i] = static_cast<int>(2654435761u * static_cast<unsigned>(i + 1));
    b[i] = static_cast<int>(2246822519u * static_cast<unsigned>(i + 5));
    x[i] = 3266489917u * static_cast<unsigned>(i + 9);
    y[i] = 668265263u * static_cast<unsigned>(i + 2);
  }
  // Element k of row r: bits 4 (k % 8) of word 4 r + k / 8, as a signed number.
  const auto nibble = [](const std::vector<int>& words, int row, int k) {
    const unsigned word = static_cast<unsigned>(words[4 * row + k / 8]);
    const int value = static_cast<int>(word >> (4 * (k % 8)) & 15);
    return value < 8 ? value : value - 16;
  };
  for (int i = 0; i < 64; ++i) {
    for (int k = 0; k < 32; ++k) c[i] += nibble(a, i / 8, k) * nibble(b, i % 8, k);
    for (int w = 0; w < 4; ++w) {
      both[i] += __builtin_popcount(x[4 * (i / 8) + w] & y[4 * (i % 8) + w]);
      different[i] += __builtin_popcount(x[4 * (i / 8) + w] ^ y[4 * (i % 8) + w]);
    }
  }
  device_array<int> da(a), db(b), dc(64), dboth(64), ddifferent(64);
  device_array<unsigned> dx(x), dy(y);
  multiply_s4<<<1, 32>>>(da.get(), db.get(), dc.get());
  multiply_bits<<<1, 32>>>(dx.get(), dy.get(), dboth.get(), ddifferent.get());
  finish();
  return compare("wmma s4", dc.values(), c) | compare("wmma of bits, and", dboth.values(), both) |
         compare("wmma of bits, xor", ddifferent.values(), different);
}
