// The form of an operation on matrix fragments: shapes, element types, and the registers of its
// fragments. Lowering makes one form per instruction, and op::immediate is its address.
#pragma once

#include <cstdint>
#include <vector>

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

// The layout of a matrix in the registers of a warp.
struct matrix_layout {
  matrix_role role;
  std::uint32_t bits;        // per element
  std::uint32_t packed;      // elements in a register
  std::uint32_t registers;   // registers for one copy of the matrix
  std::uint32_t rows, cols;  // the matrix's shape
  // Element e of register r in lane l is places[(r * packed + e) * lanes + l]: row * cols + col.
  std::vector<std::uint16_t> places;
  std::vector<std::uint16_t> transposed;  // for the transposed matrix: col * rows + row
};

// A matrix spread over the registers of a warp: register r of the fragment is vregs[r]. If there
// are more registers than the matrix fills, the first ones are repeated.
struct matrix_fragment {
  const matrix_layout* layout;
  matrix_type type;
  std::uint32_t count;
  std::uint32_t vregs[128];
};

// The adjacent elements of a lane that a tile in memory has next to each other, so that one access
// can move them: at most 8 bytes.
struct matrix_form;
std::uint32_t adjacent_elements(const matrix_form& tile);
// Whether the machine code loads a tile by lines and then transposes its blocks of 8 x 8 elements,
// because the two elements of a register lie in different lines. Lane l loads elements 2 (l % 4)
// and 2 (l % 4) + 1 of line l / 4 of a block. (LDG.32 or LDS.32, then MOVM, on an H200)
bool is_transposed_after_load(const matrix_form& tile);

struct matrix_shape {
  std::uint32_t m, n, k;
};

struct matrix_form : matrix_shape {
  matrix_fragment a, b, c, d;  // a load or store has d only
  bool saturates;              // integers: the sum is clamped
  bool is_xor;                 // bits: xor, else and
  bool is_column_major;        // load, store: of the matrix in memory
  bool is_transposed;          // ldmatrix, stmatrix
  std::uint32_t address;       // load, store: vector register of generic addresses
  std::uint32_t stride;        // load, store: vector register with the distance of matrix rows or
                               // columns, in elements; 0: they follow each other
  // wgmma only. The shape is that of one warp's part: m is 16.
  std::uint32_t a_descriptor;  // vector register; 0: A is in registers
  std::uint32_t b_descriptor;
  std::uint32_t adds_to_d;  // vector register of a predicate; where it is false, C is zero
  bool negates_a, negates_b;
  bool a_is_mn_major, b_is_mn_major;  // in shared memory: neighbours are along m or n, not along k
};

// The size of one element in memory.
unsigned bits_of(matrix_type t);

// The layout of the matrix in a product of that shape. Never freed.
const matrix_layout* layout_of(const matrix_form& f, matrix_role role, matrix_type type);

}  // namespace stepwise::emulator
