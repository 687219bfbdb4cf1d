// What an operation on matrix fragments works on: shapes, element types, and where the rows of its
// fragments lie. Lowering makes one for each such instruction; op::immediate is its address.
#pragma once

#include <cstdint>

namespace stepwise::emulator {

enum class matrix_type : std::uint8_t {
  f16,
  bf16,
  tf32,
  e4m3,
  e5m2,
  f32,
  f64,
  s8,
  u8,
  s4,
  u4,
  b1,
  s32
};

// The matrix A (m by k), B (k by n), or C or D (m by n) of a product.
enum class matrix_role : std::uint8_t { a, b, c };

// A matrix spread over the registers of a warp: register r of the fragment is the row rows[r].
// Where there are more registers than the matrix fills, the first ones are repeated.
struct matrix_fragment {
  matrix_role role;
  matrix_type type;
  std::uint32_t count;
  std::uint32_t rows[8];
};

struct matrix_form {
  std::uint32_t m, n, k;
  matrix_fragment a, b, c, d;  // a load or store has d only
  bool saturates;              // integers: the sum is clamped
  bool is_xor;                 // bits: xor, else and
  bool is_column_major;        // load, store: of the matrix in memory
  bool is_transposed;          // ldmatrix, stmatrix
  std::uint32_t address;       // load, store: row of generic addresses
  std::uint32_t stride;        // load, store: row of the distance of matrix rows or columns, in
                               // elements; 0: they follow each other
};

}  // namespace stepwise::emulator
