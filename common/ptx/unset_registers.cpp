// Follows each name back from the blocks that read it first to the function's start.
#include "common/ptx/unset_registers.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::size_t most_steps_per_instruction = 256;

void add_names(const ptx::operand& o, std::vector<std::string_view>& to) {
  if (!o.name.empty() && o.kind != ptx::operand_kind::sink && o.name != "_") to.push_back(o.name);
  for (const ptx::operand& e : o.elements) add_names(e, to);
}

// Whether the instruction has a result that has_result() does not report. This is the case for
// instructions whose only operand is their result, and for barriers that reduce a predicate.
bool has_other_result(const ptx::instruction& i) {
  return (i.operands.size() == 1 && (i.opcode == "activemask" || i.opcode == "stacksave")) ||
         ((i.opcode == "bar" || i.opcode == "barrier") && ptx::has_modifier(i, "red"));
}

bool writes_first(const ptx::instruction& i) { return ptx::has_result(i) || has_other_result(i); }

}  // namespace

std::vector<std::string_view> names_written(const ptx::instruction& i) {
  std::vector<std::string_view> names;
  if (writes_first(i)) add_names(i.operands[0], names);
  return names;
}

std::vector<std::string_view> names_read_by(const ptx::instruction& i) {
  std::vector<std::string_view> names;
  if (!i.guard.empty()) names.push_back(i.guard);
  for (std::size_t n = writes_first(i) ? 1 : 0; n < i.operands.size(); ++n)
    add_names(i.operands[n], names);
  return names;
}

std::vector<std::string_view> names_read_before_written(const ptx::body& body,
                                                        const control_flow& flow) {
  const auto blocks = static_cast<std::uint32_t>(flow.blocks.size());
  if (blocks == 0) return {};
  std::vector<std::vector<std::uint32_t>> predecessors(blocks);
  std::vector<std::unordered_set<std::string_view>> written_in(blocks);
  // The names that a block reads before it writes them, in the order of the first such read.
  std::vector<std::string_view> order;
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> readers;
  for (std::uint32_t b = 0; b < blocks; ++b) {
    for (const std::uint32_t s : flow.blocks[b].successors)
      if (s < blocks) predecessors[s].push_back(b);
    auto& written = written_in[b];
    for (std::uint32_t n = flow.blocks[b].first; n < flow.blocks[b].end; ++n) {
      const ptx::instruction& i = body.instructions[n];
      for (const std::string_view name : names_read_by(i)) {
        if (written.contains(name)) continue;
        const auto [at, is_new] = readers.try_emplace(name);
        if (is_new) order.push_back(name);
        if (at->second.empty() || at->second.back() != b) at->second.push_back(b);
      }
      if (!i.guard.empty()) continue;
      for (const std::string_view name : names_written(i)) written.insert(name);
    }
  }
  std::vector<std::string_view> found;
  std::vector<std::uint32_t> seen(blocks, 0), open;
  std::uint32_t number = 0;
  std::size_t steps = most_steps_per_instruction * (body.instructions.size() + 64);
  for (const std::string_view name : order) {
    ++number;
    open = readers.at(name);
    for (const std::uint32_t b : open) seen[b] = number;
    bool reaches_start = false;
    while (!open.empty() && !reaches_start) {
      const std::uint32_t b = open.back();
      open.pop_back();
      reaches_start = b == 0;
      for (const std::uint32_t p : predecessors[b]) {
        if (steps-- == 0) return {};
        if (seen[p] == number || written_in[p].contains(name)) continue;
        seen[p] = number;
        open.push_back(p);
      }
    }
    if (reaches_start) found.push_back(name);
  }
  return found;
}

}  // namespace stepwise::emulator
