// Records the definitions of registers, and searches through them.
#include "common/emulator/check/advice/register_flow.hpp"

#include <algorithm>

#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::size_t most_sources = 500;  // per value
constexpr int deepest_address = 24;        // dependent instructions

bool passes_values_on(const ptx::instruction& i) {
  return ptx::traits_of(i).is_pure && ptx::has_result(i);
}

}  // namespace

bool register_flow::sources::contains(std::int32_t instruction) const {
  return std::ranges::find(instructions, instruction) != instructions.end();
}

register_flow::register_flow(const ptx::body& body) : body_(body) {
  for (std::int32_t n = 0; n < size(); ++n) {
    if (!ptx::has_result(at(n))) continue;
    const ptx::operand& result = at(n).operands[0];
    if (!result.name.empty()) definitions_[result.name].push_back(n);
    for (const ptx::operand& e : result.elements)
      if (!e.name.empty()) definitions_[e.name].push_back(n);
  }
}

const std::vector<std::int32_t>& register_flow::definitions_of(std::string_view name) const {
  static const std::vector<std::int32_t> none;
  const auto found = definitions_.find(name);
  return found == definitions_.end() ? none : found->second;
}

const ptx::operand* register_flow::address_of(std::int32_t access) const {
  const auto& operands = at(access).operands;
  const auto found = std::ranges::find(operands, ptx::operand_kind::memory, &ptx::operand::kind);
  return found == operands.end() ? nullptr : &*found;
}

void register_flow::follow(const ptx::operand& o, sources& into) const {
  if (!o.name.empty()) follow(o.name, into);
  for (const ptx::operand& e : o.elements) follow(e, into);
}

void register_flow::follow(std::string_view name, sources& into) const {
  std::vector<std::string_view> open{name};
  const auto add = [&](const ptx::operand& o, const auto& self) -> void {
    if (!o.name.empty()) open.push_back(o.name);
    for (const ptx::operand& e : o.elements) self(e, self);
  };
  while (!open.empty() && into.instructions.size() < most_sources) {
    const std::string_view next = open.back();
    open.pop_back();
    const auto& defined = definitions_of(next);
    if (defined.empty() && std::ranges::find(into.names, next) == into.names.end())
      into.names.push_back(next);
    into.merges = into.merges || defined.size() > 1;
    for (const std::int32_t n : defined) {
      if (into.contains(n)) continue;
      into.instructions.push_back(n);
      if (!at(n).guard.empty()) open.push_back(at(n).guard);
      if (!passes_values_on(at(n))) continue;
      for (std::size_t k = 1; k < at(n).operands.size(); ++k) add(at(n).operands[k], add);
    }
  }
}

register_flow::sources register_flow::of(const ptx::operand& value) const {
  sources found;
  follow(value, found);
  return found;
}

register_flow::sources register_flow::of_guard(std::int32_t instruction) const {
  sources found;
  if (!at(instruction).guard.empty()) follow(at(instruction).guard, found);
  return found;
}

register_flow::sources register_flow::of_address(std::int32_t access) const {
  const ptx::operand* const address = address_of(access);
  return address == nullptr ? sources() : of(*address);
}

bool register_flow::same_value(const ptx::operand& a, const ptx::operand& b, int depth) const {
  if (a.kind != b.kind || a.negated != b.negated || a.bits != b.bits || a.offset != b.offset ||
      a.elements.size() != b.elements.size())
    return false;
  for (std::size_t k = 0; k < a.elements.size(); ++k)
    if (!same_value(a.elements[k], b.elements[k], depth)) return false;
  if (a.name == b.name) return true;
  const auto &of_a = definitions_of(a.name), &of_b = definitions_of(b.name);
  if (depth == 0 || of_a.size() != 1 || of_b.size() != 1) return false;
  const ptx::instruction &x = at(of_a[0]), &y = at(of_b[0]);
  const bool loads_parameter =
      x.opcode == "ld" && ptx::space_of(x) == ptx::state_space::param && !x.operands.empty();
  if (x.text != y.text || x.operands.size() != y.operands.size() || !x.guard.empty() ||
      !y.guard.empty() || (!passes_values_on(x) && !loads_parameter))
    return false;
  for (std::size_t k = 1; k < x.operands.size(); ++k)
    if (!same_value(x.operands[k], y.operands[k], depth - 1)) return false;
  return true;
}

bool register_flow::same_address(std::int32_t a, std::int32_t b) const {
  const ptx::operand *const x = address_of(a), *const y = address_of(b);
  return x != nullptr && y != nullptr && same_value(*x, *y, deepest_address);
}

void register_flow::add_bases(std::int32_t access, const std::string& prefix, int depth,
                              std::vector<std::string>& into) const {
  const sources s = of_address(access);
  for (const std::string_view name : s.names)
    if (!name.starts_with('%')) into.push_back(prefix + std::string(name));
  for (const std::int32_t n : s.instructions) {
    const ptx::instruction& i = at(n);
    // An index is narrower than a pointer.
    if (i.opcode != "ld" || ptx::bytes_of(ptx::value_type(i)) != 8) continue;
    const ptx::operand* const from = address_of(n);
    if (from == nullptr) continue;
    if (ptx::space_of(i) == ptx::state_space::param)
      into.push_back(prefix + std::string(from->name) + "+" + std::to_string(from->offset));
    else if (depth > 0)
      add_bases(n, prefix + "*" + std::to_string(from->offset), depth - 1, into);
  }
}

std::vector<std::string> register_flow::bases_of(std::int32_t access) const {
  std::vector<std::string> found;
  add_bases(access, "", 2, found);
  std::ranges::sort(found);
  return found;
}

bool register_flow::is_read(std::string_view name) const {
  const auto has = [name](const ptx::operand& o) {
    return o.name == name || std::ranges::any_of(o.elements, [name](const ptx::operand& e) {
             return e.name == name;
           });
  };
  return std::ranges::any_of(body_.instructions, [&](const ptx::instruction& i) {
    const auto results = std::min<std::size_t>(ptx::has_result(i) ? 1 : 0, i.operands.size());
    return i.guard == name || std::any_of(i.operands.begin() + static_cast<std::ptrdiff_t>(results),
                                          i.operands.end(), has);
  });
}

}  // namespace stepwise::emulator
