// Splits the body at labels and branches, then finds dominators and loops.
#include "common/ptx/control_flow.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "common/ptx/flow.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::size_t longest_lists = 64;  // steps per block and edge to find all loops' blocks

bool ends_block(const ptx::instruction& i) {
  return i.opcode == "bra" || i.opcode == "brx" || i.opcode == "ret" || i.opcode == "exit" ||
         i.opcode == "trap";
}

}  // namespace

control_flow::control_flow(const ptx::body& body) {
  find_blocks(body);
  find_dominators();
  number_dominators();
  find_loops();
}

void control_flow::find_blocks(const ptx::body& body) {
  const auto count = static_cast<std::uint32_t>(body.instructions.size());
  std::vector<bool> leads(count + 1, false);
  leads[0] = true;
  for (const auto& [name, at] : body.labels) leads[std::min(at, count)] = true;
  for (std::uint32_t n = 0; n < count; ++n) {
    if (ends_block(body.instructions[n])) leads[n + 1] = true;
  }
  for (std::uint32_t n = 0; n < count; ++n) {
    if (leads[n]) blocks.push_back({.first = n, .end = n, .successors = {}});
    blocks.back().end = n + 1;
    block_of.push_back(static_cast<std::uint32_t>(blocks.size()) - 1);
  }
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    const ptx::instruction& last = body.instructions[blocks[b].end - 1];
    auto& to = blocks[b].successors;
    const auto leads_to = [&](std::string_view label) {
      const auto at = body.labels.find(label);
      if (at != body.labels.end() && at->second < count) to.push_back(block_of[at->second]);
    };
    if ((!ends_block(last) || !last.guard.empty()) && b + 1 < blocks.size()) to.push_back(b + 1);
    if (last.opcode == "bra" && !last.operands.empty()) leads_to(last.operands[0].name);
    if (last.opcode == "brx" && last.operands.size() > 1) {
      const auto list = body.target_lists.find(last.operands[1].name);
      if (list == body.target_lists.end()) continue;
      for (const std::string_view label : list->second) leads_to(label);
    }
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
  }
}

void control_flow::find_dominators() {
  // Dominators are the post-dominators of the reversed graph. The end of the reversed graph is an
  // extra node before the entry, because the entry may be a loop's header. Only reachable blocks
  // take part, because an unreachable block would look like another end.
  const auto count = static_cast<std::uint32_t>(blocks.size());
  if (count == 0) return;
  std::vector<std::uint32_t> order{0}, number(count, no_block);
  number[0] = 0;
  for (std::size_t n = 0; n < order.size(); ++n) {
    for (const std::uint32_t s : blocks[order[n]].successors) {
      if (number[s] != no_block) continue;
      number[s] = static_cast<std::uint32_t>(order.size());
      order.push_back(s);
    }
  }
  std::vector<std::vector<std::uint32_t>> predecessors(order.size() + 1);
  predecessors[0].push_back(static_cast<std::uint32_t>(order.size()));
  for (std::uint32_t n = 0; n < order.size(); ++n) {
    for (const std::uint32_t s : blocks[order[n]].successors) predecessors[number[s]].push_back(n);
  }
  const auto found = immediate_post_dominators(predecessors);
  for (std::uint32_t n = 1; n < order.size(); ++n) {
    if (found[n] < order.size()) blocks[order[n]].dominator = order[found[n]];
  }
}

void control_flow::number_dominators() {
  const auto count = static_cast<std::uint32_t>(blocks.size());
  std::vector<std::vector<std::uint32_t>> below(count);
  for (std::uint32_t b = 0; b < count; ++b)
    if (blocks[b].dominator != no_block) below[blocks[b].dominator].push_back(b);
  entered_.assign(count, 0);
  left_.assign(count, 0);
  std::uint32_t clock = 0;
  std::vector<std::uint32_t> path;
  for (std::uint32_t root = 0; root < count; ++root) {
    if (blocks[root].dominator != no_block) continue;
    entered_[root] = clock++;
    for (path.assign(1, root); !path.empty();) {
      std::vector<std::uint32_t>& next = below[path.back()];
      if (next.empty()) {
        left_[path.back()] = clock++;
        path.pop_back();
      } else {
        const std::uint32_t b = next.back();
        next.pop_back();
        entered_[b] = clock++;
        path.push_back(b);
      }
    }
  }
}

bool control_flow::dominates(std::uint32_t a, std::uint32_t b) const {
  return entered_[a] <= entered_[b] && left_[b] <= left_[a];
}

void control_flow::find_loops() {
  std::vector<std::vector<std::uint32_t>> predecessors(blocks.size());
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    for (const std::uint32_t s : blocks[b].successors) predecessors[s].push_back(b);
  }
  // The limit on the total length of the loops' lists, which also hold the blocks of inner loops.
  std::size_t room = 16 + blocks.size();
  for (const basic_block& b : blocks) room += b.successors.size();
  room *= longest_lists;
  std::map<std::uint32_t, std::set<std::uint32_t>> by_header;
  for (std::uint32_t latch = 0; latch < blocks.size(); ++latch) {
    if (latch != 0 && blocks[latch].dominator == no_block) continue;
    for (const std::uint32_t header : blocks[latch].successors) {
      if (!dominates(header, latch)) continue;
      auto& members = by_header[header];
      members.insert(header);
      std::vector<std::uint32_t> todo{latch};
      while (!todo.empty()) {
        const std::uint32_t b = todo.back();
        todo.pop_back();
        if (!members.insert(b).second) continue;
        const std::size_t steps = 1 + predecessors[b].size();
        if (steps > room) return;
        room -= steps;
        for (const std::uint32_t p : predecessors[b]) {
          if (p == 0 || blocks[p].dominator != no_block) todo.push_back(p);
        }
      }
    }
  }
  for (const auto& [header, members] : by_header) {
    loops.push_back({.header = header, .blocks = {members.begin(), members.end()}});
  }
  // If two loops share a block, one lies in the other and has fewer blocks.
  std::stable_sort(loops.begin(), loops.end(), [](const natural_loop& a, const natural_loop& b) {
    return a.blocks.size() > b.blocks.size();
  });
  for (std::uint32_t n = 0; n < loops.size(); ++n) {
    loops[n].parent = blocks[loops[n].header].loop;
    if (loops[n].parent != no_block) loops[loops[n].parent].is_innermost = false;
    for (const std::uint32_t b : loops[n].blocks) blocks[b].loop = n;
  }
}

}  // namespace stepwise::emulator
