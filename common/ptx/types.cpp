// The scalar types: names and sizes.
#include <algorithm>
#include <array>

#include "common/ptx/ast.hpp"

namespace stepwise::ptx {
namespace {

struct type_row {
  scalar_type type;
  unsigned bytes;
  std::string_view name;
};

// In the order of the enumeration.
constexpr std::array rows = {
    type_row{scalar_type::none, 0, "none"},
    type_row{scalar_type::pred, 0, "pred"},
    type_row{scalar_type::b8, 1, "b8"},
    type_row{scalar_type::u8, 1, "u8"},
    type_row{scalar_type::s8, 1, "s8"},
    type_row{scalar_type::b16, 2, "b16"},
    type_row{scalar_type::u16, 2, "u16"},
    type_row{scalar_type::s16, 2, "s16"},
    type_row{scalar_type::f16, 2, "f16"},
    type_row{scalar_type::bf16, 2, "bf16"},
    type_row{scalar_type::b32, 4, "b32"},
    type_row{scalar_type::u32, 4, "u32"},
    type_row{scalar_type::s32, 4, "s32"},
    type_row{scalar_type::f32, 4, "f32"},
    type_row{scalar_type::tf32, 4, "tf32"},
    type_row{scalar_type::f16x2, 4, "f16x2"},
    type_row{scalar_type::bf16x2, 4, "bf16x2"},
    type_row{scalar_type::u16x2, 4, "u16x2"},
    type_row{scalar_type::s16x2, 4, "s16x2"},
    type_row{scalar_type::b64, 8, "b64"},
    type_row{scalar_type::u64, 8, "u64"},
    type_row{scalar_type::s64, 8, "s64"},
    type_row{scalar_type::f64, 8, "f64"},
    type_row{scalar_type::b128, 16, "b128"},
    type_row{scalar_type::e4m3, 1, "e4m3"},
    type_row{scalar_type::e5m2, 1, "e5m2"},
    type_row{scalar_type::e4m3x2, 2, "e4m3x2"},
    type_row{scalar_type::e5m2x2, 2, "e5m2x2"},
    type_row{scalar_type::texref, 8, "texref"},
    type_row{scalar_type::samplerref, 8, "samplerref"},
    type_row{scalar_type::surfref, 8, "surfref"},
    type_row{scalar_type::other, 0, "other"},
};

static_assert(rows.size() == static_cast<std::size_t>(scalar_type::other) + 1);
static_assert([] {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].type != static_cast<scalar_type>(i)) return false;
  }
  return true;
}());

// Types that only instructions have, never variables or registers.
constexpr std::string_view unnumbered[] = {
    "b4",     "u4",     "s4",     "b1",     "e2m1",   "e2m3",    "e3m2",
    "ue8m0",  "ue4m3",  "e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2", "e4m3x4",
    "e5m2x4", "e2m1x4", "e2m3x4", "e3m2x4", "f32x2",  "u8x4",    "s8x4"};

}  // namespace

unsigned bytes_of(scalar_type type) { return rows[static_cast<std::size_t>(type)].bytes; }

std::string_view name_of(scalar_type type) { return rows[static_cast<std::size_t>(type)].name; }

scalar_type type_of(std::string_view name) {
  for (const type_row& row : rows) {
    if (row.name == name && row.type != scalar_type::none) return row.type;
  }
  const bool known =
      std::find(std::begin(unnumbered), std::end(unnumbered), name) != std::end(unnumbered);
  return known ? scalar_type::other : scalar_type::none;
}

}  // namespace stepwise::ptx
