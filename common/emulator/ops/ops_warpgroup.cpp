// Products of a warpgroup (wgmma), with operands in shared memory.
//
// idea    Each warp computes 16 of the 64 rows of D by itself, when it reaches the instruction. A
//         descriptor gives the place of each run of 16 bytes of an operand in shared memory. The
//         products are then added by the rule of tensor_sums.hpp. B is usually stored by columns;
//         the transposed product D^T = B^T A^T then needs no transposition of B.
// watch   Lowering guarantees that all 32 lanes are active.
// source  PTX ISA 9.1, "Asynchronous Warpgroup Level Matrix Instructions". Tested by
//         ../../runtime/conformance/wgmma/.
#include <algorithm>
#include <cstring>

#include "common/emulator/ops/locate.hpp"
#include "common/emulator/ops/matrix_elements.hpp"
#include "common/emulator/ops/narrow.hpp"
#include "common/emulator/ops/tensor_sums.hpp"

namespace stepwise::emulator::STEPWISE_SIMD {
namespace {

constexpr u32 rows_of_warp = 16, most_columns = 256;
constexpr u32 line_bytes = 32;   // of an operand along k, for every type
constexpr u32 chunk_bytes = 16;  // contiguous in every layout
constexpr u32 most_k = 32;       // elements of a line that are not packed bits

// The fields of a matrix descriptor, in bytes.
struct descriptor {
  u32 start, leading, stride;
  u32 base;     // the base offset: the line of the pattern, of 128 bytes, at which the tile begins
  u32 pattern;  // bytes of a line of the swizzle pattern: 128, 64 or 32; 0: no swizzle

  explicit descriptor(u64 bits)
      : start(field(bits, 0)),
        leading(field(bits, 16)),
        stride(field(bits, 32)),
        base(static_cast<u32>(bits >> 49) & 7) {
    constexpr u32 patterns[] = {0, 128, 64, 32};
    pattern = patterns[bits >> 62];
  }
  static u32 field(u64 bits, int at) { return static_cast<u32>((bits >> at) & 0x3fff) << 4; }

  // The swizzle exchanges runs of 16 bytes by their address, not by their place in the tile, unless
  // the base offset says where in the pattern the tile begins. Measured on an H200.
  u32 swizzled(u32 at) const {
    return at ^ ((((at >> 7) - base) & (pattern / chunk_bytes - 1)) << 4);
  }
  // The chunk with bytes [16 c, 16 c + 16) of line r. Lines are along k; r counts along m or n.
  u32 k_major(u32 r, u32 c) const {
    return pattern == 0 ? start + r / 8 * stride + c * leading + r % 8 * chunk_bytes
                        : swizzled(start + r / 8 * stride + r % 8 * pattern + c * chunk_bytes);
  }
  // The chunk with elements [8 c, 8 c + 8) along m or n, of 16 bits each, at index k.
  u32 mn_major(u32 k, u32 c) const {
    if (pattern == 0) return start + c * stride + k / 8 * leading + k % 8 * chunk_bytes;
    const u32 chunks = pattern / chunk_bytes;
    return swizzled(start + c % chunks * chunk_bytes + c / chunks * leading + k % 8 * pattern +
                    k / 8 * stride);
  }
};

// Copies `chunks` runs of 16 bytes from shared memory, run n from address place(n). False if the
// launch was stopped.
template <class Place>
bool copy_chunks(context& x, const op* i, u32 chunks, std::byte* to, Place place) {
  for (u32 n = 0; n < chunks; ++n) {
    const u32 at = place(n);
    const std::byte* from = x.shared + at;
    if (x.watch != nullptr || at + chunk_bytes > x.shared_bytes)
      from = reach(x, i, 0, shared_window + at,
                   {chunk_bytes, chunk_bytes, memory_space::shared, access_kind::load,
                    "an operand of wgmma: "});
    if (from == nullptr) return false;
    std::memcpy(to + n * chunk_bytes, from, chunk_bytes);
  }
  x.counts.shared_load_bytes += chunks * chunk_bytes;
  return true;
}

// `count` lines of an operand, from line `first` on, as they are in memory: by lines of k or, if
// the operand is MN-major, by k.
bool copy_operand(context& x, const op* i, u32 vreg, bool is_mn_major, u32 first, u32 count,
                  std::byte* to) {
  const descriptor at(x.vreg<u64>(vreg)[0]);
  if (!is_mn_major)
    return copy_chunks(x, i, 2 * count, to,
                       [&](u32 n) { return at.k_major(first + n / 2, n % 2); });
  const u32 across = count / 8;
  return copy_chunks(x, i, 16 * across, to,
                     [&](u32 n) { return at.mn_major(n / across, first / 8 + n % across); });
}

// to[e] = value_of(bits of element e), of packed elements.
template <class T, class Value>
void unpack(const std::byte* from, unsigned bits, u32 count, T* to, Value value_of) {
  const auto each = [&]<class Word>() {
    for (u32 e = 0; e < count; ++e) {
      Word word;
      std::memcpy(&word, from + e * sizeof(Word), sizeof(Word));
      to[e] = value_of(u32{word});
    }
  };
  bits == 8    ? each.template operator()<u8>()
  : bits == 16 ? each.template operator()<u16>()
               : each.template operator()<u32>();
}

template <class T>
void transpose(const T* from, u32 rows, u32 cols, T* to) {
  for (u32 row = 0; row < rows; ++row)
    for (u32 col = 0; col < cols; ++col) to[col * rows + row] = from[row * cols + col];
}

// The words of a fragment of single bits: word w of row r goes to to[r * words + w] or, if
// `transposed`, to[w * rows + r].
void spread_words(context& x, const matrix_fragment& from, u32* to, bool transposed) {
  const matrix_layout& where = *from.layout;
  const u32 words = where.cols / 32;
  for (u32 r = 0; r < where.registers; ++r)
    for (int l = 0; l < lanes; ++l) {
      const u32 place = where.places[r * where.packed * lanes + static_cast<u32>(l)];
      const u32 row = place / where.cols, word = place % where.cols / 32;
      to[transposed ? word * where.rows + row : row * words + word] = x.vreg<u32>(from.vregs[r])[l];
    }
}

// A product in one of two orientations, with all matrices by rows: C += A B, or C^T += B^T A^T,
// whichever takes B as it is stored.
template <class T>
struct product {
  bool transposed;
  matrix_shape shape;
  T left[most_columns * most_k], right[most_columns * most_k];
  T sums[rows_of_warp * most_columns] = {};
};

// Reads A and B, of k elements (or words of bits) along k. with_value_of(type, use) calls
// use(function of an element's bits). Returns false if the launch was stopped.
template <class T, class WithValueOf>
bool read_operands(context& x, const op* i, const matrix_form& f, u32 k, WithValueOf with_value_of,
                   product<T>& p) {
  const unsigned bits = 8 * line_bytes / k;
  std::byte bytes[most_columns * line_bytes];
  p.transposed = !f.b_is_mn_major;
  p.shape = p.transposed ? matrix_shape{f.n, rows_of_warp, k} : matrix_shape{rows_of_warp, f.n, k};
  T* const b = p.transposed ? p.left : p.right;
  if (!copy_operand(x, i, f.b_descriptor, f.b_is_mn_major, 0, f.n, bytes)) return false;
  with_value_of(f.b.type, [&](auto value) { unpack(bytes, bits, f.n * k, b, value); });
  T* const a = p.transposed ? p.right : p.left;
  if (f.a_descriptor == 0) {
    if constexpr (std::is_same_v<T, u32>)
      spread_words(x, f.a, a, p.transposed);
    else
      with_value_of(f.a.type, [&](auto value) { spread(x, f.a, a, value, p.transposed); });
  } else {
    const u32 first = warp_in_group(x) * rows_of_warp;
    if (!copy_operand(x, i, f.a_descriptor, f.a_is_mn_major, first, rows_of_warp, bytes))
      return false;
    T stored[rows_of_warp * most_k];
    with_value_of(f.a.type,
                  [&](auto value) { unpack(bytes, bits, rows_of_warp * k, stored, value); });
    if (f.a_is_mn_major == p.transposed)
      std::copy_n(stored, rows_of_warp * k, a);
    else if (f.a_is_mn_major)
      transpose(stored, k, rows_of_warp, a);
    else
      transpose(stored, rows_of_warp, k, a);
  }
  if (f.negates_a != f.negates_b)
    for (u32 e = 0; e < rows_of_warp * k; ++e) a[e] = -a[e];
  return true;
}

// Whether D is added to. The predicate is the same in all lanes.
bool adds_to_d(const context& x, const matrix_form& f) {
  return (x.predicate(f.adds_to_d) & 1) != 0;
}

bool multiply_floats(context& x, const op* i, const matrix_form& f) {
  product<f32> p;
  const auto with_value_of = [](matrix_type t, auto use) { with_float_of(t, use); };
  if (!read_operands(x, i, f, f.k, with_value_of, p)) return false;
  if (adds_to_d(x, f))
    with_float_of(f.d.type, [&](auto value) { spread(x, f.d, p.sums, value, p.transposed); });
  const bool is_half = f.d.type == matrix_type::f16;
  const sum_rule& rule = bits_of(f.a.type) == 8 ? narrow_sum : is_half ? half_sum : wide_sum;
  s32 exponents[2 * most_columns * most_k];
  const sum_types types = p.transposed ? sum_types{f.b.type, f.a.type, f.d.type}
                                       : sum_types{f.a.type, f.b.type, f.d.type};
  add_products(rule, types, p.shape, p.left, p.right, p.sums, exponents);
  if (is_half)
    gather(
        x, f.d, p.sums, [](f32 value) { return f16_of(value); }, p.transposed);
  else
    gather(x, f.d, p.sums, bits_of_sum, p.transposed);
  return true;
}

// Calls accumulate(product) and adds the sums, which always fit in s32, to D.
template <class T, class Accumulate>
void add_integers(context& x, const matrix_form& f, product<T>& p, Accumulate accumulate) {
  accumulate(p);
  s32 before[rows_of_warp * most_columns] = {};
  if (adds_to_d(x, f))
    spread(
        x, f.d, before, [](u32 bits) { return static_cast<s32>(bits); }, p.transposed);
  s32 after[rows_of_warp * most_columns];
  for (u32 e = 0; e < rows_of_warp * f.n; ++e)
    after[e] = sum_of(before[e], static_cast<s32>(p.sums[e]), f.saturates);
  gather(
      x, f.d, after, [](s32 value) { return static_cast<u32>(value); }, p.transposed);
}

bool multiply_integers(context& x, const op* i, const matrix_form& f) {
  product<s32> p;
  const auto with_value_of = [](matrix_type t, auto use) { with_integer_of(t, use); };
  if (!read_operands(x, i, f, f.k, with_value_of, p)) return false;
  add_integers(x, f, p,
               [](auto& of) { accumulate_products(of.shape, of.left, of.right, of.sums); });
  return true;
}

bool multiply_bits(context& x, const op* i, const matrix_form& f) {
  product<u32> p;
  const auto with_value_of = [](matrix_type, auto use) { use([](u32 word) { return word; }); };
  if (!read_operands(x, i, f, f.k / 32, with_value_of, p)) return false;
  add_integers(x, f, p, [](auto& of) {
    accumulate(of.shape, of.left, of.right, of.sums, [](u32 sum, u32 a, u32 b) {
      return sum + static_cast<u32>(__builtin_popcount(a & b));
    });
  });
  return true;
}

const op* multiply(context& x, const op* i) {
  const auto& f = *reinterpret_cast<const matrix_form*>(i->immediate);
  const bool done = f.a.type == matrix_type::b1    ? multiply_bits(x, i, f)
                    : f.d.type == matrix_type::s32 ? multiply_integers(x, i, f)
                                                   : multiply_floats(x, i, f);
  return done ? i + 1 : nullptr;
}

}  // namespace

void warpgroup_ops(op_table& t) {
  using enum value_class;
  add_op(t, "<wgmma>", &multiply, none, none, none, none);
}

}  // namespace stepwise::emulator::STEPWISE_SIMD
