// Lowering: operations on matrix fragments.
//
// idea    The whole warp must reach such an instruction. Then one op does its work, with the
//         shapes, types and registers of a matrix_form.
#include <algorithm>
#include <cstdio>

#include "common/emulator/lower/lowering.hpp"
#include "common/emulator/machine/matrix.hpp"
#include "common/ptx/spelling.hpp"

namespace stepwise::emulator {
namespace {

struct type_name {
  std::string_view name;
  matrix_type type;
};
constexpr type_name types[] = {
    {"f16", matrix_type::f16},   {"bf16", matrix_type::bf16}, {"tf32", matrix_type::tf32},
    {"e4m3", matrix_type::e4m3}, {"e5m2", matrix_type::e5m2}, {"f32", matrix_type::f32},
    {"f64", matrix_type::f64},   {"s8", matrix_type::s8},     {"u8", matrix_type::u8},
    {"s4", matrix_type::s4},     {"u4", matrix_type::u4},     {"b1", matrix_type::b1},
    {"s32", matrix_type::s32}};

const type_name* find_type(std::string_view name) {
  const auto found = std::ranges::find(types, name, &type_name::name);
  return found == std::end(types) ? nullptr : found;
}
bool find_shape(std::string_view word, matrix_form& f) {
  int used = 0;
  const std::string text(word);
  return std::sscanf(text.c_str(), "m%un%uk%u%n", &f.m, &f.n, &f.k, &used) == 3 &&
         static_cast<std::size_t>(used) == text.size();
}

// Whether mma.sync has the shape for elements of this type of A.
bool is_mma_shape(const matrix_form& f) {
  const auto is = [&](unsigned m, unsigned n, std::initializer_list<unsigned> ks) {
    return f.m == m && f.n == n && std::ranges::find(ks, f.k) != ks.end();
  };
  switch (f.a.type) {
    case matrix_type::f16:
    case matrix_type::bf16:
      return is(16, 8, {8, 16});
    case matrix_type::tf32:
      return is(16, 8, {4, 8});
    case matrix_type::e4m3:
    case matrix_type::e5m2:
      return is(16, 8, {16, 32});
    case matrix_type::f64:
      return is(8, 8, {4}) || is(16, 8, {4, 8, 16});
    case matrix_type::s8:
    case matrix_type::u8:
      return is(8, 8, {16}) || is(16, 8, {16, 32});
    case matrix_type::s4:
    case matrix_type::u4:
      return is(8, 8, {32}) || is(16, 8, {32, 64});
    case matrix_type::b1:
      return is(8, 8, {128}) || is(16, 8, {128, 256});
    default:
      return false;
  }
}

bool is_wmma_shape(const matrix_form& f, matrix_type element) {
  const auto is = [&](unsigned m, unsigned n, unsigned k) {
    return f.m == m && f.n == n && f.k == k;
  };
  switch (element) {
    case matrix_type::tf32:
      return is(16, 16, 8);
    case matrix_type::f64:
      return is(8, 8, 4);
    case matrix_type::s4:
    case matrix_type::u4:
      return is(8, 8, 32);
    case matrix_type::b1:
      return is(8, 8, 128);
    case matrix_type::f16:
    case matrix_type::bf16:
    case matrix_type::s8:
    case matrix_type::u8:
      return is(16, 16, 16) || is(32, 8, 16) || is(8, 32, 16);
    default:  // an accumulator
      return is(16, 16, 16) || is(32, 8, 16) || is(8, 32, 16) || is(16, 16, 8) || is(8, 8, 4) ||
             is(8, 8, 32) || is(8, 8, 128);
  }
}

// Whether wgmma has the shape and the types. K always takes 32 bytes.
bool is_wgmma_shape(const matrix_form& f) {
  const matrix_type a = f.a.type, b = f.b.type, d = f.d.type;
  const auto is_fp8 = [](matrix_type t) {
    return t == matrix_type::e4m3 || t == matrix_type::e5m2;
  };
  const auto is_byte = [](matrix_type t) { return t == matrix_type::s8 || t == matrix_type::u8; };
  const bool is_integer = is_byte(a) || a == matrix_type::b1;
  const bool has_half_sums = a == matrix_type::f16 || is_fp8(a);
  const bool has_types =
      is_integer ? d == matrix_type::s32 && (is_byte(a) ? is_byte(b) : a == b)
                 : (d == matrix_type::f32 || (d == matrix_type::f16 && has_half_sums)) &&
                       (is_fp8(a) ? is_fp8(b)
                                  : a == b && (a == matrix_type::f16 || a == matrix_type::bf16 ||
                                               a == matrix_type::tf32));
  const bool has_columns = f.n >= 8 && f.n <= 256 && f.n % 8 == 0 &&
                           (!is_integer || f.n % 16 == 0 || f.n == 8 || f.n == 24);
  return has_types && has_columns && f.k * bits_of(a) == 256;
}

}  // namespace

// The op after this one runs once, for all 32 lanes, when all of them have arrived.
void lowering::whole_warp() {
  sync_site site{};
  site.kind = sync_kind::whole_warp;
  site.members = constant(value_class::b32, all_lanes);
  emit("<warp-wide>").slot = static_cast<std::uint32_t>(out_.syncs.size());
  out_.syncs.push_back(site);
}

// The vector registers of a fragment's operand: {r0, r1, ...} or one register.
matrix_fragment lowering::fragment(const operand& o, matrix_type type, bool is_result,
                                   std::size_t most) {
  matrix_fragment f{nullptr, type, 0, {}};
  const value_class k = type == matrix_type::f64   ? value_class::f64
                        : type == matrix_type::f32 ? value_class::f32
                                                   : value_class::b32;
  const std::vector<operand> one{o};
  const std::vector<operand>& parts = o.kind == operand_kind::vector ? o.elements : one;
  if (parts.empty() || parts.size() > most) throw unsupported{"the instruction " + text()};
  for (const operand& part : parts)
    f.vregs[f.count++] = is_result ? destination(part, k) : source(part, k);
  return f;
}

void lowering::emit_matrix(const char* name, const matrix_form& form) {
  out_.matrices.push_back(form);
  whole_warp();
  emit(name).immediate = reinterpret_cast<std::int64_t>(&out_.matrices.back());
}

// mma.sync.aligned.shape.row.col... d, a, b, c; wmma.mma.sync.aligned.layout.layout.shape...
void lowering::multiply_matrices() {
  const bool wmma = i_->opcode == "wmma";
  for (const char* m : {"sp", "sp::ordered_metadata", "block_scale", "rz", "rm", "rp"})
    if (has(m)) throw unsupported{"the instruction " + text()};
  if (out_.tensor_instruction.empty()) out_.tensor_instruction = ptx::spelled(*i_);
  matrix_form f{};
  std::vector<matrix_type> named;
  bool has_shape = false;
  std::size_t column_major = 0;
  for (const std::string_view m : i_->modifiers) {
    if (m.starts_with("kind")) throw unsupported{"the instruction " + text()};
    column_major += m == "col" ? 1 : 0;
    if (find_shape(m, f)) has_shape = true;
    if (const type_name* t = find_type(m)) named.push_back(t->type);
  }
  if (wmma && named.size() == 2) named = {named[0], matrix_type::f16, matrix_type::f16, named[1]};
  const std::vector<operand>& o = i_->operands;
  // mma's fragments have A by rows and B by columns. wmma's may have either layout.
  if (!has_shape || named.size() != 4 || (!wmma && (column_major != 1 || !has("row"))))
    throw unsupported{"the instruction " + text()};
  f.d = fragment(o.at(0), named[0], true);
  f.a = fragment(o.at(1), named[1], false);
  f.b = fragment(o.at(2), named[2], false);
  f.c = fragment(o.at(3), named[3], false);
  f.saturates = has("satfinite");
  f.is_xor = has("xor");
  const auto is_float = [](matrix_type t) { return t <= matrix_type::e5m2; };
  const auto sums = [&](matrix_type t) {
    return is_float(f.a.type)             ? t == matrix_type::f32 || t == matrix_type::f16
           : f.a.type == matrix_type::f64 ? t == matrix_type::f64
                                          : t == matrix_type::s32;
  };
  const auto is_b1 = [](matrix_type t) { return t == matrix_type::b1; };
  bool fits = (wmma ? is_wmma_shape(f, f.a.type) : is_mma_shape(f)) &&
              bits_of(f.a.type) == bits_of(f.b.type) && is_float(f.a.type) == is_float(f.b.type) &&
              is_b1(f.a.type) == is_b1(f.b.type) && sums(f.c.type) && sums(f.d.type);
  if (!fits) throw unsupported{"the instruction " + text()};
  f.a.layout = layout_of(f, matrix_role::a, f.a.type);
  f.b.layout = layout_of(f, matrix_role::b, f.b.type);
  f.c.layout = layout_of(f, matrix_role::c, f.c.type);
  f.d.layout = layout_of(f, matrix_role::c, f.d.type);
  for (const matrix_fragment* x : {&f.a, &f.b, &f.c, &f.d}) {
    const std::uint32_t needed = x->layout->registers;
    fits = fits && (wmma ? x->count >= needed : x->count == needed);
  }
  if (!fits) throw unsupported{"the instruction " + text()};
  emit_matrix("<mma>", f);
}

// wgmma.mma_async.sync.aligned.shape.d.a.b d, a, b, p{, scale-a, scale-b{, transpose-a,
// transpose-b}}, where a is a descriptor or {registers} and b a descriptor. The product is made at
// once, so fences and groups have no effect, and a wait is only for the warpgroup's other warps.
void lowering::multiply_by_warpgroup() {
  if (has("fence")) return watch_step(async_step::fence_products);
  if (has("commit_group")) return watch_step(async_step::commit_products);
  if (has("wait_group")) {
    watch_step(async_step::wait_for_products, static_cast<std::int64_t>(i_->operands.at(0).bits));
    emit("<warpgroup wait>");
    return;
  }
  if (!has("mma_async") || has("sp")) throw unsupported{"the instruction " + text()};
  if (out_.tensor_instruction.empty()) out_.tensor_instruction = ptx::spelled(*i_);
  matrix_form f{};
  std::vector<matrix_type> named;
  bool has_shape = false;
  for (const std::string_view m : i_->modifiers) {
    if (find_shape(m, f)) has_shape = true;
    if (const type_name* t = find_type(m)) named.push_back(t->type);
  }
  const std::vector<operand>& o = i_->operands;
  if (!has_shape || f.m != 64 || named.size() != 3 || o.size() < 4)
    throw unsupported{"the instruction " + text()};
  f.m = 16;  // of each warp
  f.d.type = named[0];
  f.a.type = named[1];
  f.b.type = named[2];
  const auto is_immediate = [](const operand& x) { return x.kind == operand_kind::integer; };
  for (std::size_t n = 4; n < o.size(); ++n)
    if (!is_immediate(o[n])) throw unsupported{"the instruction " + text()};
  const bool a_in_registers = o[1].kind == operand_kind::vector;
  // Only A in shared memory has a flag for its transposition.
  const std::size_t flags = o.size() - 4, transposes = flags > 2 ? flags - 2 : 0;
  if (!is_wgmma_shape(f) || transposes > (a_in_registers ? 1u : 2u) || flags == 1)
    throw unsupported{"the instruction " + text()};
  f.negates_a = flags > 0 && static_cast<std::int64_t>(o[4].bits) < 0;
  f.negates_b = flags > 0 && static_cast<std::int64_t>(o[5].bits) < 0;
  f.a_is_mn_major = transposes == 2 && o[6].bits != 0;
  f.b_is_mn_major = transposes > 0 && o.back().bits != 0;
  f.saturates = has("satfinite");
  f.d = fragment(o[0], f.d.type, true, std::size(f.d.vregs));
  f.d.layout = layout_of(f, matrix_role::c, f.d.type);
  bool fits = f.d.count == f.d.layout->registers;
  if (a_in_registers) {
    f.a = fragment(o[1], f.a.type, false);
    f.a.layout = layout_of(f, matrix_role::a, f.a.type);
    fits = fits && f.a.count == f.a.layout->registers;
  } else {
    f.a_descriptor = source(o[1], value_class::b64);
  }
  if (!fits) throw unsupported{"the instruction " + text()};
  f.b_descriptor = source(o[2], value_class::b64);
  f.adds_to_d = source(o[3], value_class::predicate);
  out_.has_warpgroup_products = true;
  emit_matrix("<wgmma>", f);
}

// wmma.load.{a,b,c}.sync.aligned.layout.shape.space.type r, [p]{, stride}; wmma.store.d likewise.
void lowering::move_matrix_tile() {
  const bool is_load = has("load");
  matrix_form f{};
  bool has_shape = false;
  state_space space = state_space::none;
  for (const std::string_view m : i_->modifiers) {
    if (find_shape(m, f)) has_shape = true;
    if (m == "global") space = state_space::global;
    if (m.starts_with("shared")) space = state_space::shared;
  }
  const type_name* t = find_type(type());
  if (!has_shape || t == nullptr || (!has("row") && !has("col")))
    throw unsupported{"the instruction " + text()};
  const matrix_role role = has("a") ? matrix_role::a : has("b") ? matrix_role::b : matrix_role::c;
  const std::vector<operand>& o = i_->operands;
  f.d = fragment(o.at(is_load ? 0 : 1), t->type, is_load);
  f.address = generic_address(o.at(is_load ? 1 : 0), space);
  f.stride = o.size() > 2 ? source(o[2], value_class::b32) : 0;
  f.is_column_major = has("col");
  // Elements of less than a byte are adjacent along k.
  const bool crosses_bytes = bits_of(t->type) < 8 && f.is_column_major != (role == matrix_role::b);
  if (!is_wmma_shape(f, t->type) || crosses_bytes) throw unsupported{"the instruction " + text()};
  f.d.layout = layout_of(f, role, t->type);
  if (f.d.count < f.d.layout->registers) throw unsupported{"the instruction " + text()};
  emit_matrix(is_load ? "<matrix load>" : "<matrix store>", f);
  if (!out_.watched) return;
  // The event of each of its accesses is for counting. The checks are notified of whole lines.
  access_site site = site_of(is_load ? access_kind::load : access_kind::store, space,
                             std::max(1u, bits_of(t->type) * adjacent_elements(f) / 8));
  site.counted_only = true;
  out_.code.back().slot = static_cast<std::uint32_t>(out_.accesses.size());
  out_.accesses.push_back(site);
}

// ldmatrix.sync.aligned.m8n8.x4{.trans}.shared.b16 r, [p]; stmatrix; movmatrix d, a.
void lowering::move_small_matrices() {
  if (!has("m8n8") || !has("b16")) throw unsupported{"the instruction " + text()};
  const std::vector<operand>& o = i_->operands;
  matrix_form f{};
  f.is_transposed = has("trans");
  if (i_->opcode == "movmatrix") {
    f.a = fragment(o.at(1), matrix_type::f16, false);
    f.d = fragment(o.at(0), matrix_type::f16, true);
    return emit_matrix("<movmatrix>", f);
  }
  const bool is_load = i_->opcode == "ldmatrix";
  const bool shared = has("shared") || has("shared::cta");
  f.d = fragment(o.at(is_load ? 0 : 1), matrix_type::f16, is_load);
  f.address =
      generic_address(o.at(is_load ? 1 : 0), shared ? state_space::shared : state_space::none);
  if (f.d.count != (has("x4") ? 4u : has("x2") ? 2u : 1u))
    throw unsupported{"the instruction " + text()};
  access_site site = site_of(is_load ? access_kind::load : access_kind::store,
                             shared ? state_space::shared : state_space::none, 16);
  site.matrix = site.counted_only = true;
  site.space = memory_space::generic;  // its address register holds generic addresses
  watch(site, {f.address, 0, 64}, f.d.count == 4 ? all_lanes : f.d.count == 2 ? 0xffffu : 0xffu);
  emit_matrix(is_load ? "<ldmatrix>" : "<stmatrix>", f);
}

void lowering::matrix() {
  if (!has("sync")) throw unsupported{"the instruction " + text()};
  if (i_->opcode == "wgmma")
    multiply_by_warpgroup();
  else if (i_->opcode == "mma" || (i_->opcode == "wmma" && has("mma")))
    multiply_matrices();
  else if (i_->opcode == "wmma")
    move_matrix_tile();
  else
    move_small_matrices();
}

}  // namespace stepwise::emulator
