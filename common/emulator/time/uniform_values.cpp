// Follows registers from parameters and constants through moves and sums.
#include "common/emulator/time/uniform_values.hpp"

#include <algorithm>
#include <unordered_map>

#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

bool adds_floats(const ptx::instruction& atomic) {
  return std::ranges::any_of(atomic.modifiers, [](std::string_view m) {
    return m.starts_with("f16") || m.starts_with("bf16") || m == "f32" || m == "f64";
  });
}

}  // namespace

uniform_values::uniform_values(const std::vector<ptx::instruction>& body) {
  std::unordered_map<std::string_view, unsigned> written;
  for (const ptx::instruction& i : body) {
    const bool has_result = ptx::has_result(i);
    if (has_result) ++written[i.operands[0].name];
    for (std::size_t o = has_result ? 1 : 0; o < i.operands.size(); ++o)
      read_.insert(i.operands[o].name);
  }
  constexpr std::string_view computing[] = {"mov", "cvta", "cvt", "add",
                                            "sub", "mul",  "mad", "shl"};
  for (const ptx::instruction& i : body) {
    if (!ptx::has_result(i) || written[i.operands[0].name] != 1) continue;
    const bool is_parameter = i.opcode == "ld" && ptx::space_of(i) == ptx::state_space::param;
    const bool computes = std::ranges::find(computing, i.opcode) != std::end(computing);
    if (is_parameter || (computes && std::all_of(i.operands.begin() + 1, i.operands.end(),
                                                 [&](const auto& o) { return is_uniform(o); })))
      names_.insert(i.operands[0].name);
  }
}

bool uniform_values::has_one_sum(const ptx::instruction& i) const {
  if (!ptx::has_modifier(i, "add") || adds_floats(i)) return false;
  const bool has_result = ptx::has_result(i);
  const std::size_t at = has_result ? 1 : 0;
  if (i.operands.size() < at + 2 || !is_uniform(i.operands[at])) return false;
  return is_uniform(i.operands[at + 1]) || !has_result || !read_.contains(i.operands[0].name);
}

bool uniform_values::is_uniform(const ptx::operand& o) const {
  if (!o.name.starts_with('%')) return o.elements.empty();  // a number, a variable
  return names_.contains(o.name) || o.name.starts_with("%ctaid") || o.name.starts_with("%n");
}

}  // namespace stepwise::emulator
