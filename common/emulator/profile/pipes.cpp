#include "common/emulator/profile/pipes.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace stepwise::emulator {
namespace {

using ptx::scalar_type;

bool has_modifier(const ptx::instruction& i, std::string_view modifier) {
  return std::ranges::find(i.modifiers, modifier) != i.modifiers.end();
}

// ld.param, st.param::func: on the hardware no access to memory. A kernel's parameters are operands
// from a constant bank, a function's are registers.
bool is_parameter(const ptx::instruction& i) {
  return std::ranges::any_of(i.modifiers, [](const auto& m) { return m.starts_with("param"); });
}

// Of the values it works on: the last type that it names (setp.lt.f32, mad.wide.s32).
scalar_type type_of(const ptx::instruction& i) {
  for (auto m = i.modifiers.rbegin(); m != i.modifiers.rend(); ++m)
    if (const scalar_type t = ptx::type_of(*m); t != scalar_type::none) return t;
  return scalar_type::none;
}

pipe by_type(scalar_type t) {
  switch (t) {
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

}  // namespace

bool is_branch(const ptx::instruction& i) { return i.opcode == "bra" || i.opcode == "brx"; }

pipe pipe_of(const ptx::instruction& i) {
  static const std::unordered_map<std::string_view, pipe> by_opcode = {
      {"ld", pipe::load_store},        {"ldu", pipe::load_store},
      {"st", pipe::load_store},        {"atom", pipe::load_store},
      {"red", pipe::load_store},       {"cp", pipe::load_store},
      {"shfl", pipe::load_store},      {"ldmatrix", pipe::load_store},
      {"stmatrix", pipe::load_store},  {"prefetch", pipe::load_store},
      {"prefetchu", pipe::load_store}, {"mapa", pipe::integer},
      {"bra", pipe::control},          {"brx", pipe::control},
      {"call", pipe::control},         {"ret", pipe::control},
      {"exit", pipe::control},         {"trap", pipe::control},
      {"brkpt", pipe::control},        {"bar", pipe::barrier},
      {"barrier", pipe::barrier},      {"membar", pipe::barrier},
      {"fence", pipe::barrier},        {"vote", pipe::barrier},
      {"match", pipe::barrier},        {"redux", pipe::barrier},
      {"activemask", pipe::barrier},   {"elect", pipe::barrier},
      {"mbarrier", pipe::barrier},     {"mma", pipe::tensor},
      {"wgmma", pipe::tensor},         {"movmatrix", pipe::tensor},
      {"cvt", pipe::conversion},       {"nanosleep", pipe::other},
      {"griddepcontrol", pipe::other}, {"pmevent", pipe::other},
      {"setmaxnreg", pipe::other},     {"mov", pipe::integer},
      {"ex2", pipe::special},          {"lg2", pipe::special},
      {"sin", pipe::special},          {"cos", pipe::special},
      {"tanh", pipe::special},
  };
  if (i.opcode == "wmma") {
    return has_modifier(i, "load") || has_modifier(i, "store") ? pipe::load_store : pipe::tensor;
  }
  if ((i.opcode == "ld" || i.opcode == "st") && is_parameter(i)) return pipe::other;
  const scalar_type type = type_of(i);
  const bool divides =
      i.opcode == "div" || i.opcode == "rcp" || i.opcode == "sqrt" || i.opcode == "rsqrt";
  if (divides && type == scalar_type::f32) return pipe::special;
  const auto known = by_opcode.find(i.opcode);
  return known != by_opcode.end() ? known->second : by_type(type);
}

}  // namespace stepwise::emulator
