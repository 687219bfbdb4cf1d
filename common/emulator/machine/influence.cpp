// Follows the registers from each instruction's operands to its result.
#include "common/emulator/machine/influence.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

void add_names_of(const ptx::operand& o, std::vector<std::string_view>& names) {
  if (o.kind == ptx::operand_kind::name) names.push_back(o.name);
  for (const ptx::operand& e : o.elements) add_names_of(e, names);
}

// A memory access returns what is stored there, so its result does not depend on its operands.
bool gives_value_of_memory(const ptx::instruction& i) {
  return i.opcode == "call" || std::ranges::any_of(i.operands, [](const ptx::operand& o) {
           return o.kind == ptx::operand_kind::memory;
         });
}

}  // namespace

std::unordered_set<std::string_view> registers_influenced_by(
    const ptx::body& b, const std::unordered_set<std::string_view>& specials) {
  std::unordered_map<std::string_view, std::vector<const ptx::instruction*>> readers;
  std::vector<std::string_view> names;
  for (const ptx::instruction& i : b.instructions) {
    if (!ptx::has_result(i) || gives_value_of_memory(i)) continue;
    names.clear();
    if (!i.guard.empty()) names.push_back(i.guard);
    for (std::size_t n = 1; n < i.operands.size(); ++n) add_names_of(i.operands[n], names);
    for (const std::string_view name : names) readers[name].push_back(&i);
  }
  std::unordered_set<std::string_view> influenced;
  std::vector<std::string_view> to_do(specials.begin(), specials.end());
  while (!to_do.empty()) {
    const auto read = readers.find(to_do.back());
    to_do.pop_back();
    if (read == readers.end()) continue;
    for (const ptx::instruction* i : read->second) {
      names.clear();
      add_names_of(i->operands[0], names);
      for (const std::string_view name : names)
        if (influenced.insert(name).second) to_do.push_back(name);
    }
  }
  return influenced;
}

}  // namespace stepwise::emulator
