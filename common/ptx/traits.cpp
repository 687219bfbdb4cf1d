// The table of opcodes, and the effect of an instruction's types and modifiers.
#include "common/ptx/traits.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace stepwise::ptx {
namespace {

struct opcode_traits {
  instruction_kind kind;
  std::optional<ptx::pipe> pipe;  // if empty, the type of the values decides
  bool waits = false;
};

// Opcodes that are not listed do arithmetic on values of their type and only write a result.
const std::unordered_map<std::string_view, opcode_traits>& by_opcode() {
  using enum instruction_kind;
  constexpr std::optional<ptx::pipe> by_type;
  static const std::unordered_map<std::string_view, opcode_traits> table = {
      {"ld", {load, pipe::load_store}},
      {"ldu", {load, pipe::load_store}},
      {"ldmatrix", {load, pipe::load_store, true}},
      {"st", {store, pipe::load_store}},
      {"stmatrix", {store, pipe::load_store, true}},
      {"atom", {atomic, pipe::load_store}},
      {"red", {atomic, pipe::load_store}},
      {"cp", {async_copy, pipe::load_store}},
      {"tensormap", {other, pipe::load_store, true}},
      {"prefetch", {other, pipe::load_store}},
      {"prefetchu", {other, pipe::load_store}},
      {"applypriority", {other, pipe::load_store}},
      {"discard", {other, pipe::load_store}},
      {"tex", {other, pipe::load_store}},
      {"tld4", {other, pipe::load_store}},
      {"txq", {other, pipe::load_store}},
      {"suld", {other, pipe::load_store}},
      {"sust", {other, pipe::load_store}},
      {"suq", {other, pipe::load_store}},
      {"shfl", {warp, pipe::load_store, true}},
      {"vote", {warp, pipe::barrier, true}},
      {"match", {warp, pipe::barrier, true}},
      {"redux", {warp, pipe::barrier, true}},
      {"elect", {warp, pipe::barrier, true}},
      {"activemask", {warp, pipe::barrier}},
      {"bar", {barrier, pipe::barrier, true}},
      {"barrier", {barrier, pipe::barrier, true}},
      {"membar", {barrier, pipe::barrier}},
      {"fence", {barrier, pipe::barrier}},
      {"mbarrier", {barrier, pipe::barrier}},
      {"bra", {control, pipe::control}},
      {"brx", {control, pipe::control}},
      {"call", {control, pipe::control, true}},
      {"ret", {control, pipe::control}},
      {"exit", {control, pipe::control}},
      {"trap", {control, pipe::control}},
      {"brkpt", {control, pipe::control}},
      {"mma", {tensor, pipe::tensor, true}},
      {"wmma", {tensor, pipe::tensor, true}},
      {"wgmma", {tensor, pipe::tensor, true}},
      {"movmatrix", {tensor, pipe::tensor, true}},
      {"cvt", {conversion, pipe::conversion}},
      {"mov", {move, pipe::integer}},
      {"cvta", {move, pipe::integer}},
      {"mapa", {move, pipe::integer}},
      {"div", {special, by_type}},
      {"rcp", {special, by_type}},
      {"sqrt", {special, by_type}},
      {"rsqrt", {special, by_type}},
      {"ex2", {special, pipe::special}},
      {"lg2", {special, pipe::special}},
      {"sin", {special, pipe::special}},
      {"cos", {special, pipe::special}},
      {"tanh", {special, pipe::special}},
      {"nanosleep", {other, pipe::other}},
      {"griddepcontrol", {other, pipe::other}},
      {"pmevent", {other, pipe::other}},
      {"setmaxnreg", {other, pipe::other, true}},
      {"createpolicy", {other, pipe::integer}},
      {"alloca", {other, pipe::integer}},
      {"stacksave", {other, pipe::integer}},
      {"stackrestore", {other, pipe::integer}},
  };
  return table;
}

pipe pipe_of(scalar_type type) {
  switch (type) {
    case scalar_type::f32:
    case scalar_type::tf32:
      return pipe::fp32;
    case scalar_type::f64:
      return pipe::fp64;
    case scalar_type::f16:
    case scalar_type::bf16:
    case scalar_type::f16x2:
    case scalar_type::bf16x2:
    case scalar_type::e4m3:
    case scalar_type::e5m2:
    case scalar_type::e4m3x2:
    case scalar_type::e5m2x2:
      return pipe::half;
    default:
      return pipe::integer;
  }
}

bool is_pure(instruction_kind kind) {
  using enum instruction_kind;
  return kind == arithmetic || kind == move || kind == conversion || kind == special;
}

void add_names(const operand& o, std::unordered_set<std::string_view>& to) {
  if (!o.name.empty()) to.insert(o.name);
  for (const operand& e : o.elements) add_names(e, to);
}

}  // namespace

bool has_modifier(const instruction& i, std::string_view modifier) {
  return std::ranges::find(i.modifiers, modifier) != i.modifiers.end();
}

scalar_type value_type(const instruction& i) {
  for (auto m = i.modifiers.rbegin(); m != i.modifiers.rend(); ++m)
    if (const scalar_type t = type_of(*m); t != scalar_type::none) return t;
  return scalar_type::none;
}

state_space space_of(const instruction& i) {
  for (const std::string_view m : i.modifiers) {
    const std::string_view space = m.substr(0, m.find("::"));
    if (space == "global") return state_space::global;
    if (space == "shared") return state_space::shared;
    if (space == "local") return state_space::local;
    if (space == "const") return state_space::constant;
    if (space == "param") return state_space::param;
  }
  return state_space::none;
}

bool has_result(const instruction& i) {
  return i.operands.size() > 1 && i.operands[0].kind != operand_kind::memory && i.opcode != "brx" &&
         i.opcode != "bar" && i.opcode != "barrier";
}

bool is_branch(const instruction& i) { return i.opcode == "bra" || i.opcode == "brx"; }

traits traits_of(const instruction& i) {
  const auto known = by_opcode().find(i.opcode);
  const scalar_type type = value_type(i);
  traits t;
  t.pipe = pipe_of(type);
  t.is_pure = known == by_opcode().end() || is_pure(known->second.kind);
  if (known == by_opcode().end()) return t;
  const opcode_traits& r = known->second;
  t.kind = r.kind;
  t.waits = r.waits;
  if (r.pipe) t.pipe = *r.pipe;
  if (r.kind == instruction_kind::special && !r.pipe) {
    if (t.pipe == pipe::integer) t.kind = instruction_kind::arithmetic;
    if (type == scalar_type::f32) t.pipe = pipe::special;
  }
  const bool moves_matrix =
      i.opcode == "wmma" && (has_modifier(i, "load") || has_modifier(i, "store"));
  if (moves_matrix) t.pipe = pipe::load_store;
  t.touches_memory =
      moves_matrix || t.kind == instruction_kind::load || t.kind == instruction_kind::store ||
      t.kind == instruction_kind::atomic ||
      (t.kind == instruction_kind::async_copy && i.operands.size() > 1);  // excludes the waits
  // The hardware does not access memory for these: a kernel's parameters are operands from a
  // constant bank, and a function's parameters are registers.
  if ((t.kind == instruction_kind::load || t.kind == instruction_kind::store) &&
      space_of(i) == state_space::param)
    t.pipe = pipe::other;
  return t;
}

std::unordered_set<std::string_view> names_read(const body& b) {
  std::unordered_set<std::string_view> read;
  for (const instruction& i : b.instructions) {
    if (!i.guard.empty()) read.insert(i.guard);
    for (std::size_t n = has_result(i) ? 1 : 0; n < i.operands.size(); ++n)
      add_names(i.operands[n], read);
  }
  return read;
}

}  // namespace stepwise::ptx
