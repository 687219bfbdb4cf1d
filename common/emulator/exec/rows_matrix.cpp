// Matrix fragments: loads, stores and products of a whole warp.
//
// idea    Fragments are spread out into plain matrices, multiplied by loops, and gathered again.
//         Where an element lies is one formula for all shapes. The fragments of mma are laid out as
//         PTX says; those of wmma, which PTX leaves open, as several of mma side by side.
//         Products are exact. They are added to C in the order of k: in f32 with rounding to
//         nearest, rounded once to f16 at the end where D is f16; in f64 with fused operations; in
//         integers exactly. A GPU's tensor cores add several products at once, in an order that is
//         not documented, with truncated low bits: f32 and f16 sums may differ from these in
//         their last bits, sums that need no rounding may not.
// watch   Lowering has made sure that all 32 lanes are active.
// source  PTX ISA 9.0, "Matrix Fragments for mma.*", "ldmatrix". Tested by tests/opcodes/mma*.ptx,
//         wmma*.ptx, ldmatrix.ptx.
#include <bit>
#include <cstring>

#include "common/emulator/exec/access.hpp"
#include "common/emulator/exec/matrix.hpp"

namespace stepwise::emulator::STEPWISE_SIMD {
namespace {

constexpr u32 most_elements = 1024;  // of A, B or C, spread out

constexpr u32 bits_of(matrix_type t) {
  switch (t) {
    case matrix_type::f64:
      return 64;
    case matrix_type::f32:
    case matrix_type::tf32:
    case matrix_type::s32:
      return 32;
    case matrix_type::f16:
    case matrix_type::bf16:
      return 16;
    case matrix_type::s4:
    case matrix_type::u4:
      return 4;
    case matrix_type::b1:
      return 1;
    default:
      return 8;
  }
}

struct place {
  u32 row, col;
};

// How a fragment lies in a warp: element e of register r in lane l is an element of the matrix.
// Lanes are 8 groups of 4. Sub-matrices of A are 8 rows by 4 registers along k, those of B 4
// registers along k by 8 columns, those of C 8 rows by 8 columns.
struct layout {
  matrix_role role;
  u32 m, n, k;
  u32 packed;     // elements in a register
  u32 along_k;    // sub-matrices of A or B along k
  u32 registers;  // that hold the matrix once
  u32 rows, cols;

  layout(const matrix_form& f, const matrix_fragment& x)
      : role(x.role),
        m(f.m),
        n(f.n),
        k(f.k),
        packed(bits_of(x.type) >= 32 ? 1 : 32 / bits_of(x.type)),
        along_k(f.k / (4 * packed)),
        rows(x.role == matrix_role::b ? f.k : f.m),
        cols(x.role == matrix_role::a ? f.k : f.n) {
    registers = rows * cols / (lanes * packed);
  }

  place of(u32 r, u32 lane, u32 e) const {
    const u32 group = lane >> 2, in_group = lane & 3;
    if (role == matrix_role::b)
      return {(r % along_k * 4 + in_group) * packed + e, r / along_k * 8 + group};
    if (role == matrix_role::a) {
      if (m == 8) return {group, (r * 4 + in_group) * packed + e};
      const u32 inner = r % (2 * along_k);
      return {r / (2 * along_k) * 16 + (inner & 1) * 8 + group,
              ((inner >> 1) * 4 + in_group) * packed + e};
    }
    const u32 element = r * packed + e;
    const u32 across = 2 * in_group + (element & 1);
    if (m == 8) return {group, element / 2 * 8 + across};
    const u32 tile = element / 4, tiles = n / 8;
    return {tile / tiles * 16 + (element >> 1 & 1) * 8 + group, tile % tiles * 8 + across};
  }
};

// --- elements ----------------------------------------------------------------------------------

f32 from_f16(u32 bits) { return static_cast<f32>(std::bit_cast<_Float16>(static_cast<u16>(bits))); }
u32 to_f16(f32 value) {
  return value != value ? 0x7fffu : std::bit_cast<u16>(static_cast<_Float16>(value));
}

// e4m3: 4 bits of exponent with bias 7, no infinity, NaN is all ones.
f32 from_e4m3(u32 bits) {
  const u32 magnitude = bits & 0x7f;
  if (magnitude == 0x7f) return std::bit_cast<f32>(0x7fffffffu);
  const u32 exponent = magnitude >> 3, fraction = magnitude & 7;
  const f32 size = exponent == 0 ? static_cast<f32>(fraction) * 0x1p-9f
                                 : std::bit_cast<f32>((exponent + 120) << 23 | fraction << 20);
  return (bits & 0x80) != 0 ? -size : size;
}

f32 float_of(matrix_type type, u32 bits) {
  switch (type) {
    case matrix_type::f16:
      return from_f16(bits);
    case matrix_type::bf16:
      return std::bit_cast<f32>(bits << 16);
    case matrix_type::tf32:  // the low bits are not looked at
      return std::bit_cast<f32>(bits & 0xffffe000u);
    case matrix_type::e4m3:
      return from_e4m3(bits);
    case matrix_type::e5m2:  // an f16 without its low byte
      return from_f16(bits << 8);
    default:
      return std::bit_cast<f32>(bits);
  }
}

s32 integer_of(matrix_type type, u32 bits) {
  switch (type) {
    case matrix_type::s8:
      return static_cast<s8>(bits);
    case matrix_type::s4:
      return static_cast<s32>(bits << 28) >> 28;
    default:
      return static_cast<s32>(bits);
  }
}

// Spreads a fragment out: to[row * cols + col] = value_of(bits of the element).
template <class T, class Value>
void spread(context& x, const matrix_form& f, const matrix_fragment& from, T* to, Value value_of) {
  const layout where(f, from);
  const u32 bits = 32 / where.packed;
  const u32 mask = bits == 32 ? ~0u : (1u << bits) - 1;
  for (u32 r = 0; r < where.registers; ++r) {
    const u32* words = x.row<u32>(from.rows[r]);
    for (u32 l = 0; l < lanes; ++l) {
      for (u32 e = 0; e < where.packed; ++e) {
        const place at = where.of(r, l, e);
        to[at.row * where.cols + at.col] = value_of((words[l] >> (e * bits)) & mask);
      }
    }
  }
}

// The other way round: bits_of gives an element's bits. Registers beyond the matrix repeat it.
template <class T, class Bits>
void gather(context& x, const matrix_form& f, const matrix_fragment& to, const T* from,
            Bits bits_of_value) {
  const layout where(f, to);
  const u32 bits = 32 / where.packed;
  for (u32 r = 0; r < to.count; ++r) {
    u32* words = x.row<u32>(to.rows[r]);
    for (u32 l = 0; l < lanes; ++l) {
      u32 word = 0;
      for (u32 e = 0; e < where.packed; ++e) {
        const place at = where.of(r % where.registers, l, e);
        word |= bits_of_value(from[at.row * where.cols + at.col]) << (e * bits);
      }
      words[l] = word;
    }
  }
}

// --- products ----------------------------------------------------------------------------------

// c += a * b, sums in the order of k. n is a multiple of 8.
template <class T, class Add>
void accumulate(const matrix_form& f, u32 k, const T* a, const T* b, T* c, Add add) {
  for (u32 row = 0; row < f.m; ++row) {
    for (u32 block = 0; block < f.n; block += 8) {
      T sums[8];
      std::memcpy(sums, c + row * f.n + block, sizeof sums);
      for (u32 p = 0; p < k; ++p) {
        const T left = a[row * k + p];
        for (u32 j = 0; j < 8; ++j) sums[j] = add(sums[j], left, b[p * f.n + block + j]);
      }
      std::memcpy(c + row * f.n + block, sums, sizeof sums);
    }
  }
}

void multiply_floats(context& x, const matrix_form& f) {
  f32 a[most_elements], b[most_elements], c[most_elements];
  for (const auto& [from, to] : {std::pair{&f.a, a}, {&f.b, b}, {&f.c, c}})
    spread(x, f, *from, to, [type = from->type](u32 bits) { return float_of(type, bits); });
  accumulate(f, f.k, a, b, c, [](f32 sum, f32 l, f32 r) { return sum + l * r; });
  if (f.d.type == matrix_type::f16) return gather(x, f, f.d, c, to_f16);
  gather(x, f, f.d, c,
         [](f32 value) { return value != value ? 0x7fffffffu : std::bit_cast<u32>(value); });
}

void multiply_doubles(context& x, const matrix_form& f) {
  f64 a[most_elements], b[most_elements], c[most_elements];
  for (const auto& [from, to] : {std::pair{&f.a, a}, {&f.b, b}, {&f.c, c}}) {
    const layout where(f, *from);
    for (u32 r = 0; r < where.registers; ++r) {
      for (u32 l = 0; l < lanes; ++l) {
        const place at = where.of(r, l, 0);
        to[at.row * where.cols + at.col] = x.row<f64>(from->rows[r])[l];
      }
    }
  }
  accumulate(f, f.k, a, b, c, [](f64 sum, f64 l, f64 r) { return __builtin_fma(l, r, sum); });
  const layout where(f, f.d);
  for (u32 r = 0; r < f.d.count; ++r) {
    for (u32 l = 0; l < lanes; ++l) {
      const place at = where.of(r % where.registers, l, 0);
      x.row<f64>(f.d.rows[r])[l] = c[at.row * where.cols + at.col];
    }
  }
}

// The sum of the products of 8- or 4-bit integers always fits; C is added at the end.
void multiply_integers(context& x, const matrix_form& f) {
  s32 a[most_elements], b[most_elements], c[most_elements], sum[most_elements] = {};
  for (const auto& [from, to] : {std::pair{&f.a, a}, {&f.b, b}, {&f.c, c}})
    spread(x, f, *from, to, [type = from->type](u32 bits) { return integer_of(type, bits); });
  accumulate(f, f.k, a, b, sum, [](s32 s, s32 l, s32 r) { return s + l * r; });
  for (u32 e = 0; e < f.m * f.n; ++e) {
    const s64 exact = static_cast<s64>(c[e]) + sum[e];
    c[e] = !f.saturates        ? static_cast<s32>(exact)
           : exact > INT32_MAX ? INT32_MAX
           : exact < INT32_MIN ? INT32_MIN
                               : static_cast<s32>(exact);
  }
  gather(x, f, f.d, c, [](s32 value) { return static_cast<u32>(value); });
}

// Counts the ones of "a xor b" or "a and b"; 32 elements along k are a word.
void multiply_bits(context& x, const matrix_form& f) {
  u32 a[most_elements], b[most_elements], c[most_elements];
  const u32 words = f.k / 32;
  const layout left(f, f.a), right(f, f.b);
  for (u32 r = 0; r < left.registers; ++r)
    for (u32 l = 0; l < lanes; ++l) {
      const place at = left.of(r, l, 0);
      a[at.row * words + at.col / 32] = x.row<u32>(f.a.rows[r])[l];
    }
  for (u32 r = 0; r < right.registers; ++r)
    for (u32 l = 0; l < lanes; ++l) {
      const place at = right.of(r, l, 0);
      b[at.row / 32 * f.n + at.col] = x.row<u32>(f.b.rows[r])[l];
    }
  spread(x, f, f.c, c, [](u32 bits) { return bits; });
  const auto ones = [](u32 word) { return static_cast<u32>(__builtin_popcount(word)); };
  if (f.is_xor)
    accumulate(f, words, a, b, c, [&](u32 sum, u32 l, u32 r) { return sum + ones(l ^ r); });
  else
    accumulate(f, words, a, b, c, [&](u32 sum, u32 l, u32 r) { return sum + ones(l & r); });
  gather(x, f, f.d, c, [](u32 value) { return value; });
}

const matrix_form& form_of(const op* i) {
  return *reinterpret_cast<const matrix_form*>(i->immediate);
}

const op* multiply(context& x, const op* i) {
  const matrix_form& f = form_of(i);
  switch (f.a.type) {
    case matrix_type::f64:
      multiply_doubles(x, f);
      break;
    case matrix_type::b1:
      multiply_bits(x, f);
      break;
    case matrix_type::s8:
    case matrix_type::u8:
    case matrix_type::s4:
    case matrix_type::u4:
      multiply_integers(x, f);
      break;
    default:
      multiply_floats(x, f);
  }
  return i + 1;
}

// --- loads and stores --------------------------------------------------------------------------

// Host addresses of the rows (or columns, if they are what lies together) of a tile in memory;
// false if the launch was stopped.
bool find_lines(context& x, const op* i, const matrix_form& f, const layout& where,
                access_kind kind, std::byte** lines) {
  const u32 bits = bits_of(f.d.type);
  const u32 count = f.is_column_major ? where.cols : where.rows;
  const u32 length = f.is_column_major ? where.rows : where.cols;
  const u64 first = x.row<u64>(f.address)[0];
  const u64 stride = f.stride != 0 ? x.row<u32>(f.stride)[0] : length;
  const u64 bytes = static_cast<u64>(length) * bits / 8;
  for (u32 n = 0; n < count; ++n) {
    lines[n] = reach(
        x, i, 0, first + n * stride * bits / 8,
        {bytes, bits < 8 ? 4 : bits / 8, memory_space::generic, kind, "a tile of a matrix: "});
    if (lines[n] == nullptr) return false;
  }
  const bool loads = kind == access_kind::load;
  (loads ? x.counts.global_load_bytes : x.counts.global_store_bytes) += count * bytes;
  return true;
}

// Calls move(element in memory, lane, register, bit in the register) for each part of the fragment
// that lies together in memory: an element, or a word of elements of a few bits.
template <class Move>
void each_part(const matrix_form& f, const layout& where, std::byte** lines, Move move) {
  const u32 bits = bits_of(f.d.type);
  const u32 step = bits < 8 ? where.packed : 1;
  for (u32 r = 0; r < f.d.count; ++r) {
    for (u32 l = 0; l < lanes; ++l) {
      for (u32 e = 0; e < where.packed; e += step) {
        const place at = where.of(r % where.registers, l, e);
        const u32 line = f.is_column_major ? at.col : at.row;
        const u32 in_line = f.is_column_major ? at.row : at.col;
        move(lines[line] + in_line * bits / 8, l, r, e * bits);
      }
    }
  }
}

const op* load_tile(context& x, const op* i) {
  const matrix_form& f = form_of(i);
  const layout where(f, f.d);
  std::byte* lines[32];
  if (!find_lines(x, i, f, where, access_kind::load, lines)) return nullptr;
  const u32 bytes = bits_of(f.d.type) < 8 ? 4 : bits_of(f.d.type) / 8;
  each_part(f, where, lines, [&](const std::byte* from, u32 l, u32 r, u32 bit) {
    if (bytes == 8) return static_cast<void>(std::memcpy(x.row<u64>(f.d.rows[r]) + l, from, 8));
    std::memcpy(reinterpret_cast<std::byte*>(x.row<u32>(f.d.rows[r]) + l) + bit / 8, from, bytes);
  });
  return i + 1;
}

const op* store_tile(context& x, const op* i) {
  const matrix_form& f = form_of(i);
  const layout where(f, f.d);
  std::byte* lines[32];
  if (!find_lines(x, i, f, where, access_kind::store, lines)) return nullptr;
  const u32 bytes = bits_of(f.d.type) / 8;
  each_part(f, where, lines, [&](std::byte* to, u32 l, u32 r, u32 bit) {
    if (r >= where.registers) return;
    if (bytes == 8) return static_cast<void>(std::memcpy(to, x.row<u64>(f.d.rows[r]) + l, 8));
    std::memcpy(to, reinterpret_cast<std::byte*>(x.row<u32>(f.d.rows[r]) + l) + bit / 8, bytes);
  });
  return i + 1;
}

// Matrix q of an ldmatrix or stmatrix: 8 rows of 16 bytes, row r at the address of lane 8 q + r. A
// lane's register holds two neighbours of a row, transposed: of a column.
template <class Move>
const op* each_half(context& x, const op* i, access_kind kind, Move move) {
  const matrix_form& f = form_of(i);
  const u64* address = x.row<u64>(f.address);
  std::byte* lines[lanes];
  for (u32 l = 0; l < 8 * f.d.count; ++l) {
    lines[l] = reach(x, i, static_cast<int>(l), address[l],
                     {16, 16, memory_space::shared, kind, "a row of a matrix: "});
    if (lines[l] == nullptr) return nullptr;
  }
  for (u32 q = 0; q < f.d.count; ++q) {
    u16* halves = x.row<u16>(f.d.rows[q]);
    for (u32 l = 0; l < lanes; ++l) {
      for (u32 e = 0; e < 2; ++e) {
        const u32 across = 2 * (l & 3) + e, group = l >> 2;
        const u32 row = f.is_transposed ? across : group, col = f.is_transposed ? group : across;
        move(lines[8 * q + row] + 2 * col, halves + 2 * l + e);
      }
    }
  }
  const bool loads = kind == access_kind::load;
  (loads ? x.counts.shared_load_bytes : x.counts.shared_store_bytes) += 128 * f.d.count;
  return i + 1;
}

const op* load_matrix(context& x, const op* i) {
  return each_half(x, i, access_kind::load,
                   [](const std::byte* memory, u16* half) { std::memcpy(half, memory, 2); });
}
const op* store_matrix(context& x, const op* i) {
  return each_half(x, i, access_kind::store,
                   [](std::byte* memory, const u16* half) { std::memcpy(memory, half, 2); });
}

// d = the transpose of an 8 by 8 matrix.
const op* move_matrix(context& x, const op* i) {
  const matrix_form& f = form_of(i);
  u16 whole[8][8];
  const u16* a = x.row<u16>(f.a.rows[0]);
  u16* d = x.row<u16>(f.d.rows[0]);
  for (u32 l = 0; l < lanes; ++l)
    for (u32 e = 0; e < 2; ++e) whole[l >> 2][2 * (l & 3) + e] = a[2 * l + e];
  for (u32 l = 0; l < lanes; ++l)
    for (u32 e = 0; e < 2; ++e) d[2 * l + e] = whole[2 * (l & 3) + e][l >> 2];
  return i + 1;
}

}  // namespace

void matrix_rows(row_table& t) {
  using enum value_class;
  t.push_back({"<mma>", &multiply, none, none, none, none});
  t.push_back({"<matrix load>", &load_tile, none, none, none, none});
  t.push_back({"<matrix store>", &store_tile, none, none, none, none});
  t.push_back({"<ldmatrix>", &load_matrix, none, none, none, none});
  t.push_back({"<stmatrix>", &store_matrix, none, none, none, none});
  t.push_back({"<movmatrix>", &move_matrix, none, none, none, none});
}

}  // namespace stepwise::emulator::STEPWISE_SIMD
