// Walks through the basic blocks; a wait ends a path.
#include "common/emulator/check/unfollowed/early_access.hpp"

#include <algorithm>
#include <vector>

#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

bool is_wait(const ptx::instruction& i) {
  return i.opcode == "griddepcontrol" && ptx::has_modifier(i, "wait") && i.guard.empty();
}

// A called function may do anything. One end of a copy is always global memory.
bool is_access(const ptx::instruction& i) {
  if (i.opcode == "call") return true;
  const ptx::traits t = ptx::traits_of(i);
  const bool is_image = t.pipe == ptx::pipe::load_store && t.kind == ptx::instruction_kind::other;
  if (is_image) return !i.opcode.starts_with("prefetch") && i.opcode != "applypriority";
  if (!t.touches_memory) return false;
  if (t.kind == ptx::instruction_kind::async_copy) return true;
  const ptx::state_space space = ptx::space_of(i);
  return space == ptx::state_space::none || space == ptx::state_space::global;
}

}  // namespace

std::optional<std::uint32_t> access_before_wait(const ptx::body& body, const control_flow& flow) {
  if (flow.blocks.empty()) return {};
  std::vector<bool> visited(flow.blocks.size());
  std::vector<std::uint32_t> open{0};
  std::optional<std::uint32_t> first;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (visited[at]) continue;
    visited[at] = true;
    const basic_block& b = flow.blocks[at];
    std::uint32_t n = b.first;
    while (n < b.end && !is_wait(body.instructions[n]) && !is_access(body.instructions[n])) ++n;
    if (n == b.end) {
      open.insert(open.end(), b.successors.begin(), b.successors.end());
    } else if (is_access(body.instructions[n])) {
      first = std::min(first.value_or(n), n);
    }
  }
  return first;
}

}  // namespace stepwise::emulator
