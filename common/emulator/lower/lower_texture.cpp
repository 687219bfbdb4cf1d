// Lowering: textures and surfaces that a handle names.
//
//         Textures have one level here, so the level or the gradients that an instruction gives
//         change nothing.
#include <algorithm>

#include "common/emulator/lower/lowering.hpp"
#include "common/emulator/machine/texture.hpp"

namespace stepwise::emulator {
namespace {

template <class T>
using named = std::pair<std::string_view, T>;

struct geometry {
  std::uint8_t dimensions, flags;
};
constexpr named<geometry> geometries[] = {
    {"1d", {1, 0}},
    {"2d", {2, 0}},
    {"3d", {3, 0}},
    {"a1d", {1, texture_form::layered}},
    {"a2d", {2, texture_form::layered}},
    {"cube", {3, texture_form::cube}},
    {"acube", {3, texture_form::layered | texture_form::cube}},
};
constexpr named<texture_query> queries[] = {{"width", texture_query::width},
                                            {"height", texture_query::height},
                                            {"depth", texture_query::depth},
                                            {"array_size", texture_query::layers}};
constexpr named<surface_bounds> bounds[] = {{"trap", surface_bounds::trap},
                                            {"clamp", surface_bounds::clamp},
                                            {"zero", surface_bounds::zero}};
constexpr named<std::uint8_t> components[] = {{"r", 0}, {"g", 1}, {"b", 2}, {"a", 3}};
constexpr named<std::uint8_t> widths[] = {{"b8", 1}, {"b16", 2}, {"b32", 4}, {"b64", 8}};
constexpr named<std::uint8_t> vectors[] = {{"v2", 2}, {"v4", 4}};

// The meaning of the first modifier that is in the table; null if there is none.
template <class T, std::size_t N>
const T* meant(const ptx::instruction& i, const named<T> (&table)[N]) {
  for (const std::string_view m : i.modifiers)
    for (const auto& [name, value] : table)
      if (name == m) return &value;
  return nullptr;
}

}  // namespace

// tex[.level|.grad].geom.v4.dtype.ctype d[|p], [t, c]{, lod | dPdx, dPdy}
// tld4.comp.2d.v4.dtype.f32 d[|p], [t, c]; txq.query.b32 d, [t]
// suld.b.geom[.vec].type.clamp d, [s, c]; sust.b.geom[.vec].type.clamp [s, c], v; suq: as txq
void lowering::texture() {
  const unsupported refusal{"the instruction " + text()};
  const std::string_view opcode = i_->opcode;
  texture_form f;
  const bool queries_object = opcode == "txq" || opcode == "suq";
  const bool of_surface = opcode == "suld" || opcode == "sust" || opcode == "suq";
  if (of_surface) f.flags |= texture_form::of_surface;
  std::vector<operand> o = i_->operands;
  if (o.size() < 2) throw refusal;
  const bool stores = opcode == "sust";
  operand object = o[stores ? 0 : 1], values = o[stores ? 1 : 0];
  if (object.kind != operand_kind::memory || object.offset != 0 || object.name.empty())
    throw refusal;
  const register_info* const handle = find_register(object.name);
  if (handle == nullptr) throw unsupported{"texture references (" + text() + ")"};
  if (bits_of(handle->kind) != 64) throw refusal;
  if (values.kind == operand_kind::pair) {  // whether the texels are resident: all of them are
    const std::uint32_t all = constant(value_class::predicate, all_lanes);
    emit("mov.pred", destination(values.elements.at(1), value_class::predicate), all, all);
    values = values.elements.at(0);
  }
  if (values.kind != operand_kind::vector) values.elements = {values};

  std::uint32_t coordinates[4] = {}, vregs[4] = {};
  if (queries_object) {
    f.operation = texture_operation::query;
    const texture_query* const q = meant(*i_, queries);
    if (q == nullptr || type() != "b32" || !object.elements.empty()) throw refusal;
    f.detail = static_cast<std::uint8_t>(*q);
    vregs[0] = destination(values.elements.at(0), value_class::b32);
  } else {
    const geometry* const g = meant(*i_, geometries);
    if (g == nullptr || object.elements.size() != 1) throw refusal;
    f.dimensions = g->dimensions;
    f.flags |= g->flags;
    const operand& c = object.elements[0];
    std::vector<operand> given =
        c.kind == operand_kind::vector ? c.elements : std::vector<operand>{c};
    const bool is_layered = f.has(texture_form::layered);
    const std::size_t wanted = f.dimensions + (is_layered ? 1u : 0u);
    if (given.size() < wanted) throw refusal;
    const bool whole = of_surface || type() == "s32";
    if (whole) f.flags |= texture_form::integer_coordinates;
    for (std::size_t n = 0; n < wanted; ++n) {
      const bool is_layer = is_layered && n == 0;
      coordinates[n] = source(given[n], whole || is_layer ? value_class::b32 : value_class::f32);
    }
    if (of_surface) {
      f.operation = stores ? texture_operation::store : texture_operation::load;
      const surface_bounds* const b = meant(*i_, bounds);
      const std::uint8_t* const bytes = meant(*i_, widths);
      const std::uint8_t* const vector = meant(*i_, vectors);
      if (b == nullptr || bytes == nullptr || !has("b") || f.has(texture_form::cube)) throw refusal;
      f.detail = static_cast<std::uint8_t>(*b);
      f.element_bytes = *bytes;
      f.elements = vector != nullptr ? *vector : 1;
      if (values.elements.size() != f.elements || f.elements * f.element_bytes > 16) throw refusal;
      unsigned bits = 0;
      for (const operand& v : values.elements) bits = std::max(bits, register_bits(v));
      if (bits == 0) bits = std::max(16u, *bytes * 8u);
      if (bits < *bytes * 8u) throw refusal;
      f.register_bytes = static_cast<std::uint8_t>(bits / 8);
      const value_class k = class_of_bits(bits);
      for (std::size_t n = 0; n < f.elements; ++n)
        vregs[n] = stores ? source(values.elements[n], k) : destination(values.elements[n], k);
      if (stores) out_.writes_in_bulk = true;  // observers cannot hold these back either
    } else {
      const bool gathers = opcode == "tld4";
      const std::uint8_t* const component = meant(*i_, components);
      const std::string_view result = i_->modifiers.at(i_->modifiers.size() - 2);
      const bool known = result == "f32" || result == "s32" || result == "u32";
      const bool fits = !gathers || (component != nullptr && f.dimensions == 2 && type() == "f32");
      const bool cube_of_integers = whole && f.has(texture_form::cube);
      if (!known || !fits || !has("v4") || values.elements.size() != 4 || cube_of_integers ||
          (type() != "f32" && type() != "s32"))
        throw refusal;
      if (gathers) {
        f.operation = texture_operation::gather;
        f.component = *component;
      }
      for (std::size_t n = 0; n < 4; ++n)
        vregs[n] = destination(values.elements[n], value_class::b32);
    }
  }
  emit("<texture>", 0, handle->offset).immediate = pack(f);
  emit("<vregs>", coordinates[0], coordinates[1], coordinates[2], coordinates[3]);
  emit("<vregs>", vregs[0], vregs[1], vregs[2], vregs[3]);
}

}  // namespace stepwise::emulator
