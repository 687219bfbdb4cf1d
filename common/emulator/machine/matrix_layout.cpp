// The places of a fragment's elements.
//
// idea    One formula for all shapes. Lanes are 8 groups of 4. Sub-matrices of A are 8 rows by 4
//         registers along k, those of B 4 registers along k by 8 columns, those of C 8 rows by 8
//         columns. The fragments of mma are laid out as PTX defines them. PTX leaves those of wmma
//         open; here they are several fragments of mma next to each other.
// source  PTX ISA 9.0, "Matrix Fragments for mma.*". Tested by ../tests/opcodes/mma*.ptx.
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "common/emulator/machine/context.hpp"
#include "common/emulator/machine/matrix.hpp"

namespace stepwise::emulator {

unsigned bits_of(matrix_type t) {
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

namespace {

struct place {
  std::uint32_t row, col;
};

// Element e of register r in a lane.
place place_of(const matrix_form& f, const matrix_layout& x, std::uint32_t r, std::uint32_t lane,
               std::uint32_t e) {
  const std::uint32_t group = lane >> 2, in_group = lane & 3;
  const std::uint32_t along_k = f.k / (4 * x.packed);  // sub-matrices of A or B
  if (x.role == matrix_role::b)
    return {(r % along_k * 4 + in_group) * x.packed + e, r / along_k * 8 + group};
  if (x.role == matrix_role::a) {
    if (f.m == 8) return {group, (r * 4 + in_group) * x.packed + e};
    const std::uint32_t inner = r % (2 * along_k);
    return {r / (2 * along_k) * 16 + (inner & 1) * 8 + group,
            ((inner >> 1) * 4 + in_group) * x.packed + e};
  }
  const std::uint32_t element = r * x.packed + e;
  const std::uint32_t across = 2 * in_group + (element & 1);
  if (f.m == 8) return {group, element / 2 * 8 + across};
  const std::uint32_t tile = element / 4, tiles = f.n / 8;
  return {tile / tiles * 16 + (element >> 1 & 1) * 8 + group, tile % tiles * 8 + across};
}

}  // namespace

const matrix_layout* layout_of(const matrix_form& f, matrix_role role, matrix_type type) {
  static std::mutex guard;
  using key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, matrix_role, unsigned>;
  static std::map<key, matrix_layout> known;
  const unsigned bits = bits_of(type);
  const std::lock_guard lock(guard);
  const auto [at, fresh] = known.try_emplace({f.m, f.n, f.k, role, bits});
  matrix_layout& x = at->second;
  if (!fresh) return &x;
  x.role = role;
  x.bits = bits;
  x.packed = bits >= 32 ? 1 : 32 / bits;
  x.rows = role == matrix_role::b ? f.k : f.m;
  x.cols = role == matrix_role::a ? f.k : f.n;
  x.registers = x.rows * x.cols / (lanes * x.packed);
  x.places.resize(static_cast<std::size_t>(x.rows) * x.cols);
  x.transposed.resize(x.places.size());
  std::size_t next = 0;
  for (std::uint32_t r = 0; r < x.registers; ++r)
    for (std::uint32_t e = 0; e < x.packed; ++e)
      for (std::uint32_t l = 0; l < lanes; ++l) {
        const place p = place_of(f, x, r, l, e);
        x.places[next] = static_cast<std::uint16_t>(p.row * x.cols + p.col);
        x.transposed[next++] = static_cast<std::uint16_t>(p.col * x.rows + p.row);
      }
  return &x;
}

namespace {

const std::vector<std::uint16_t>& places_of(const matrix_form& tile) {
  return tile.is_column_major ? tile.d.layout->transposed : tile.d.layout->places;
}

}  // namespace

bool is_transposed_after_load(const matrix_form& tile) {
  const std::vector<std::uint16_t>& place = places_of(tile);
  return tile.d.layout->role != matrix_role::c && tile.d.layout->bits == 16 &&
         place[lanes] != place[0] + 1;
}

std::uint32_t adjacent_elements(const matrix_form& tile) {
  if (is_transposed_after_load(tile)) return 2;
  constexpr std::uint32_t most_bits = 64;
  const matrix_layout& where = *tile.d.layout;
  const std::vector<std::uint16_t>& place = places_of(tile);
  const std::uint32_t all = where.registers * where.packed;
  const auto are_adjacent = [&](std::uint32_t count) {
    for (std::uint32_t e = 1; e < count; ++e)
      if (place[std::size_t{e} * lanes] != place[0] + e) return false;
    return true;
  };
  std::uint32_t count = 1;
  while (2 * count <= all && 2 * count * where.bits <= most_bits && are_adjacent(2 * count))
    count *= 2;
  return count;
}

}  // namespace stepwise::emulator
