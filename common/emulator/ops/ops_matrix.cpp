// Matrix fragments: loads, stores and products of a whole warp.
//
// idea    Fragments are spread out into plain matrices, multiplied by loops, and gathered again.
//         Sums of floats have Hopper's bits (tensor_sums.hpp). f64 uses fused operations in the
//         order of k; integer sums are exact.
// watch   Lowering guarantees that all 32 lanes are active.
// source  PTX ISA 9.0, "Matrix Fragments for mma.*", "ldmatrix". Tested by tests/opcodes/mma*.ptx,
//         wmma*.ptx, ldmatrix.ptx.
#include "common/emulator/ops/locate.hpp"
#include "common/emulator/ops/matrix_elements.hpp"
#include "common/emulator/ops/narrow.hpp"
#include "common/emulator/ops/tensor_sums.hpp"

namespace stepwise::emulator::STEPWISE_SIMD {
namespace {

constexpr u32 most_elements = 1024;  // of A, B or C, spread out

// --- products ----------------------------------------------------------------------------------

// Copies the half of A and B in which k % 4 is below 2 (part 0), or the other half (part 1).
void every_second_pair(const matrix_shape& f, u32 part, const f32* a, const f32* b, f32* some_a,
                       f32* some_b) {
  for (u32 p = 0; p < f.k / 2; ++p) {
    const u32 from = p / 2 * 4 + 2 * part + p % 2;
    for (u32 row = 0; row < f.m; ++row) some_a[row * f.k / 2 + p] = a[row * f.k + from];
    std::copy_n(b + from * f.n, f.n, some_b + p * f.n);
  }
}

void multiply_floats(context& x, const matrix_form& f) {
  f32 a[most_elements], b[most_elements], c[most_elements];
  s32 exponents[2 * most_elements];
  for (const auto& [from, to] : {std::pair{&f.a, a}, {&f.b, b}, {&f.c, c}})
    with_float_of(from->type,
                  [&, from = from, to = to](auto convert) { spread(x, *from, to, convert); });
  const bool is_half = f.d.type == matrix_type::f16;
  if (bits_of(f.a.type) == 8) {
    // An H200 has no such instruction. It converts to f16 and uses two products, and then an
    // addition that rounds to nearest.
    f32 some_a[most_elements / 2], some_b[most_elements / 2], sum[most_elements] = {};
    for (const u32 part : {0u, 1u}) {
      every_second_pair(f, part, a, b, some_a, some_b);
      add_products(wide_sum, {matrix_type::f16, matrix_type::f16, matrix_type::f32},
                   {f.m, f.n, f.k / 2}, some_a, some_b, sum, exponents);
    }
    for (u32 e = 0; e < f.m * f.n; ++e) c[e] += sum[e];
  } else {
    add_products(is_half ? half_sum : wide_sum, {f.a.type, f.b.type, f.c.type}, f, a, b, c,
                 exponents);
  }
  if (is_half) return gather(x, f.d, c, [](f32 value) { return f16_of(value); });
  gather(x, f.d, c, bits_of_sum);
}

void multiply_doubles(context& x, const matrix_form& f) {
  f64 a[most_elements], b[most_elements], c[most_elements];
  for (const auto& [from, to] : {std::pair{&f.a, a}, {&f.b, b}, {&f.c, c}}) {
    const u16* place = from->layout->places.data();
    for (u32 r = 0; r < from->layout->registers; ++r, place += lanes)
      for (int l = 0; l < lanes; ++l) to[place[l]] = x.vreg<f64>(from->vregs[r])[l];
  }
  accumulate(f, a, b, c, [](f64 sum, f64 l, f64 r) { return __builtin_fma(l, r, sum); });
  const u16* place = f.d.layout->places.data();
  for (u32 r = 0; r < f.d.count; ++r, place += lanes)
    for (int l = 0; l < lanes; ++l) x.vreg<f64>(f.d.vregs[r])[l] = c[place[l]];
}

// The sum of 8- or 4-bit integer products always fits in s32. C is added at the end.
void multiply_integers(context& x, const matrix_form& f) {
  s32 a[most_elements], b[most_elements], c[most_elements], sum[most_elements] = {};
  for (const auto& [from, to] : {std::pair{&f.a, a}, {&f.b, b}, {&f.c, c}})
    with_integer_of(from->type,
                    [&, from = from, to = to](auto convert) { spread(x, *from, to, convert); });
  accumulate_products(f, a, b, sum);
  for (u32 e = 0; e < f.m * f.n; ++e) c[e] = sum_of(c[e], sum[e], f.saturates);
  gather(x, f.d, c, [](s32 value) { return static_cast<u32>(value); });
}

// Counts the set bits of "a xor b" or "a and b". A word holds 32 elements along k.
void multiply_bits(context& x, const matrix_form& f) {
  u32 a[most_elements], b[most_elements], c[most_elements];
  const u32 words = f.k / 32;
  const auto copy_words = [&](const matrix_fragment& from, auto index) {
    const matrix_layout& where = *from.layout;
    for (u32 r = 0; r < where.registers; ++r)
      for (int l = 0; l < lanes; ++l) {
        const u32 first = where.places[r * where.packed * lanes + l];
        index(first / where.cols, first % where.cols) = x.vreg<u32>(from.vregs[r])[l];
      }
  };
  copy_words(f.a, [&](u32 row, u32 col) -> u32& { return a[row * words + col / 32]; });
  copy_words(f.b, [&](u32 row, u32 col) -> u32& { return b[row / 32 * f.n + col]; });
  spread(x, f.c, c, [](u32 bits) { return bits; });
  const auto ones = [](u32 word) { return static_cast<u32>(__builtin_popcount(word)); };
  if (f.is_xor)
    accumulate({f.m, f.n, words}, a, b, c,
               [&](u32 sum, u32 l, u32 r) { return sum + ones(l ^ r); });
  else
    accumulate({f.m, f.n, words}, a, b, c,
               [&](u32 sum, u32 l, u32 r) { return sum + ones(l & r); });
  gather(x, f.d, c, [](u32 value) { return value; });
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

// Host addresses of a tile's rows, or of its columns if the tile is column-major.
struct tile_lines {
  std::byte* at[32];
  u32 count, bytes;
};

// False if the launch was stopped.
bool find_lines(context& x, const op* i, const matrix_form& f, access_kind kind,
                tile_lines& lines) {
  const matrix_layout& where = *f.d.layout;
  lines.count = f.is_column_major ? where.cols : where.rows;
  const u32 length = f.is_column_major ? where.rows : where.cols;
  const u64 first = x.vreg<u64>(f.address)[0];
  const u64 stride = f.stride != 0 ? x.vreg<u32>(f.stride)[0] : length;
  lines.bytes = length * where.bits / 8;
  for (u32 n = 0; n < lines.count; ++n) {
    lines.at[n] = reach(x, i, 0, first + n * stride * where.bits / 8,
                        {lines.bytes, where.bits < 8 ? 4 : where.bits / 8, memory_space::generic,
                         kind, "a tile of a matrix: "});
    if (lines.at[n] == nullptr) return false;
  }
  const bool shared = first - shared_window < window_bytes;
  const u64 bytes = static_cast<u64>(lines.count) * lines.bytes;
  access_counts& counted = x.counts;
  if (kind == access_kind::load)
    (shared ? counted.shared_load_bytes : counted.global_load_bytes) += bytes;
  else
    (shared ? counted.shared_store_bytes : counted.global_store_bytes) += bytes;
  return true;
}

// A tile's lines, stored contiguously as elements, or as 32-bit words of elements below 8 bits.
template <class T>
struct joined_lines {
  T elements[most_elements];

  void load(const tile_lines& lines) {
    each(lines, [](auto* ours, auto* tile, u32 bytes) { std::memcpy(ours, tile, bytes); });
  }
  void store(const tile_lines& lines) {
    each(lines, [](auto* ours, auto* tile, u32 bytes) { std::memcpy(tile, ours, bytes); });
  }

 private:
  template <class Move>
  void each(const tile_lines& lines, Move move) {
    auto* ours = reinterpret_cast<std::byte*>(elements);
    for (u32 n = 0; n < lines.count; ++n) move(ours + n * lines.bytes, lines.at[n], lines.bytes);
  }
};

// Calls move(part of the tile, its place in the registers). A part is an element, or a 32-bit word
// of elements below 8 bits.
template <class T, class Move>
void each_part(context& x, const matrix_form& f, T* elements, Move move) {
  const matrix_layout& where = *f.d.layout;
  const u32 parts = where.bits < 8 ? 1 : where.packed;
  const u32 in_part = where.packed / parts;
  const u16* place = (f.is_column_major ? where.transposed : where.places).data();
  for (u32 r = 0; r < where.registers; ++r, place += (where.packed - parts) * lanes) {
    T* words = x.vreg<T>(f.d.vregs[r]);
    for (u32 e = 0; e < parts; ++e, place += lanes)
      for (int l = 0; l < lanes; ++l) move(elements[place[l] / in_part], words[parts * l + e]);
  }
}

// Calls use<type of a part>().
template <class Use>
void with_part_type(const matrix_form& f, Use use) {
  switch (f.d.layout->bits) {
    case 64:
      return use.template operator()<u64>();
    case 16:
      return use.template operator()<u16>();
    case 8:
      return use.template operator()<u8>();
    default:
      return use.template operator()<u32>();
  }
}

const op* load_tile(context& x, const op* i) {
  const matrix_form& f = form_of(i);
  tile_lines lines;
  if (!find_lines(x, i, f, access_kind::load, lines)) return nullptr;
  if (x.watch != nullptr) notify_tile(x, i, f);
  with_part_type(f, [&]<class T> {
    joined_lines<T> joined;
    joined.load(lines);
    each_part(x, f, joined.elements, [](auto element, auto& word) { word = element; });
  });
  const u32 once = f.d.layout->registers, bytes = f.d.layout->bits == 64 ? 8 * lanes : 4 * lanes;
  for (u32 r = once; r < f.d.count; ++r)
    std::memcpy(x.vreg<u32>(f.d.vregs[r]), x.vreg<u32>(f.d.vregs[r % once]), bytes);
  return i + 1;
}

const op* store_tile(context& x, const op* i) {
  const matrix_form& f = form_of(i);
  tile_lines lines;
  if (!find_lines(x, i, f, access_kind::store, lines)) return nullptr;
  if (x.watch != nullptr) notify_tile(x, i, f);
  with_part_type(f, [&]<class T> {
    joined_lines<T> joined;
    each_part(x, f, joined.elements, [](auto& element, auto word) { element = word; });
    joined.store(lines);
  });
  return i + 1;
}

// Matrix q of an ldmatrix or stmatrix has 8 rows of 16 bytes; row r is at the address in lane 8 q +
// r. A lane's register holds two neighbours of a row or, if transposed, of a column.
template <class Move>
const op* each_half(context& x, const op* i, access_kind kind, Move move) {
  const matrix_form& f = form_of(i);
  const u64* address = x.vreg<u64>(f.address);
  std::byte* lines[lanes];
  for (u32 l = 0; l < 8 * f.d.count; ++l) {
    lines[l] = reach(x, i, static_cast<int>(l), address[l],
                     {16, 16, memory_space::shared, kind, "a row of a matrix: "});
    if (lines[l] == nullptr) return nullptr;
  }
  for (u32 q = 0; q < f.d.count; ++q) {
    u16* halves = x.vreg<u16>(f.d.vregs[q]);
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
  const u16* a = x.vreg<u16>(f.a.vregs[0]);
  u16* d = x.vreg<u16>(f.d.vregs[0]);
  for (u32 l = 0; l < lanes; ++l)
    for (u32 e = 0; e < 2; ++e) whole[l >> 2][2 * (l & 3) + e] = a[2 * l + e];
  for (u32 l = 0; l < lanes; ++l)
    for (u32 e = 0; e < 2; ++e) d[2 * l + e] = whole[2 * (l & 3) + e][l >> 2];
  return i + 1;
}

}  // namespace

void matrix_ops(op_table& t) {
  using enum value_class;
  add_op(t, "<mma>", &multiply, none, none, none, none);
  add_op(t, "<matrix load>", &load_tile, none, none, none, none);
  add_op(t, "<matrix store>", &store_tile, none, none, none, none);
  add_op(t, "<ldmatrix>", &load_matrix, none, none, none, none);
  add_op(t, "<stmatrix>", &store_matrix, none, none, none, none);
  add_op(t, "<movmatrix>", &move_matrix, none, none, none, none);
}

}  // namespace stepwise::emulator::STEPWISE_SIMD
