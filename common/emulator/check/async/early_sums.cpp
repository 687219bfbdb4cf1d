// Follows the registers of each product, and their copies by mov, until a wait for its group.
#include "common/emulator/check/async/early_sums.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "common/ptx/traits.hpp"
#include "common/ptx/unset_registers.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::size_t most_steps = 4096;  // instructions per product

bool is_product(const ptx::instruction& i) {
  return i.opcode == "wgmma" && ptx::has_modifier(i, "mma_async");
}

class product_walk {
 public:
  explicit product_walk(const ptx::instruction& product) {
    for (const ptx::operand& r : product.operands[0].elements) sums_.insert(r.name);
  }

  // Returns whether to continue after this instruction.
  bool pass(const ptx::instruction& i) {
    if (i.opcode == "wgmma") return pass_wgmma(i);
    const auto reads = names_read_by(i);
    const bool uses = std::ranges::any_of(reads, [&](auto r) { return sums_.contains(r); });
    if (uses && i.opcode != "mov") {
      is_early_ = true;
      return false;
    }
    for (const std::string_view w : names_written(i)) {
      if (uses)
        sums_.insert(w);
      else if (i.guard.empty())
        sums_.erase(w);
    }
    return !sums_.empty();
  }
  bool is_early() const { return is_early_; }

 private:
  bool pass_wgmma(const ptx::instruction& i) {
    if (ptx::has_modifier(i, "commit_group")) ++commits_;
    // A later product that adds to these sums has its own walk.
    if (is_product(i))
      for (const ptx::operand& r : i.operands[0].elements) sums_.erase(r.name);
    const bool waits = ptx::has_modifier(i, "wait_group") && !i.operands.empty();
    const bool is_over = waits && commits_ > i.operands[0].bits;
    return !is_over && !sums_.empty();
  }

  std::unordered_set<std::string_view> sums_;
  std::uint64_t commits_ = 0;
  bool is_early_ = false;
};

std::optional<std::uint32_t> first_early_use(const ptx::body& body, const control_flow& flow,
                                             std::uint32_t product) {
  product_walk walk(body.instructions[product]);
  const basic_block* b = &flow.blocks[flow.block_of[product]];
  std::uint32_t n = product + 1;
  for (std::size_t steps = 0; steps < most_steps; ++steps) {
    if (n == b->end) {
      if (b->successors.size() != 1) return {};
      b = &flow.blocks[b->successors[0]];
      n = b->first;
      continue;
    }
    if (!walk.pass(body.instructions[n])) return walk.is_early() ? std::optional(n) : std::nullopt;
    ++n;
  }
  return {};
}

}  // namespace

std::vector<early_sum> early_sums(const ptx::body& body, const control_flow& flow) {
  std::vector<early_sum> found;
  for (std::uint32_t n = 0; n < body.instructions.size(); ++n) {
    if (!is_product(body.instructions[n]) || flow.block_of.empty()) continue;
    if (const auto use = first_early_use(body, flow, n)) found.push_back({n, *use});
  }
  return found;
}

}  // namespace stepwise::emulator
