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

constexpr std::size_t most_steps = 4096;  // instructions per product; beyond, a use is assumed

bool is_product(const ptx::instruction& i) {
  return i.opcode == "wgmma" && ptx::has_modifier(i, "mma_async");
}

std::vector<std::string_view> names_of(const ptx::operand& vector) {
  std::vector<std::string_view> names;
  for (const ptx::operand& r : vector.elements) names.push_back(r.name);
  return names;
}

// A guarded instruction may not be executed.
std::vector<std::string_view> names_used_by(const ptx::instruction& i) {
  if (!i.guard.empty()) return {};
  // The operand A of a product may be in registers.
  return is_product(i) ? names_of(i.operands.at(1)) : names_read_by(i);
}

std::vector<std::string_view> names_changed_by(const ptx::instruction& i) {
  return is_product(i) ? names_of(i.operands.at(0)) : names_written(i);
}

// The merged state of all paths from a product: the registers that may hold its sums on any of
// them, and the smallest number of committed groups.
class product_walk {
 public:
  explicit product_walk(const ptx::instruction& product) {
    for (const auto r : names_changed_by(product)) results_.insert(r);
    sums_ = results_;
  }

  bool is_early() const { return is_early_; }

  // Returns whether to continue after this instruction.
  bool pass(const ptx::instruction& i) {
    if (i.opcode == "wgmma" && !is_product(i)) return pass_group(i);
    const auto reads = names_used_by(i);
    const bool uses = std::ranges::any_of(reads, [&](auto r) { return sums_.contains(r); });
    if (uses && i.opcode != "mov") return is_early_ = true, false;
    for (const std::string_view w : names_changed_by(i)) {
      const bool overwrites = !uses && !is_product(i) && sums_.contains(w) && results_.contains(w);
      if (overwrites) return is_early_ = true, false;
      // A later product that adds to these sums has its own walk.
      if (uses)
        sums_.insert(w);
      else if (i.guard.empty())
        sums_.erase(w);
    }
    return !sums_.empty();
  }

  // Adds another path to the same place. Returns whether it adds anything.
  bool join(const product_walk& other) {
    const std::size_t before = sums_.size();
    sums_.insert(other.sums_.begin(), other.sums_.end());
    const bool adds = sums_.size() != before || other.commits_ < commits_;
    commits_ = std::min(commits_, other.commits_);
    return adds;
  }

 private:
  bool pass_group(const ptx::instruction& i) {
    if (ptx::has_modifier(i, "commit_group")) ++commits_;
    const bool waits = ptx::has_modifier(i, "wait_group") && !i.operands.empty();
    return !waits || commits_ <= i.operands[0].bits;
  }

  std::unordered_set<std::string_view> results_, sums_;
  std::uint64_t commits_ = 0;
  bool is_early_ = false;
};

bool may_be_used_early(const ptx::body& body, const control_flow& flow, std::uint32_t product) {
  std::unordered_map<std::uint32_t, product_walk> at_start;  // by block
  std::vector<std::uint32_t> open;
  std::size_t steps = 0;
  // Returns whether there is a use between an instruction and the end of its block.
  const auto passes = [&](product_walk walk, std::uint32_t n) {
    const basic_block& b = flow.blocks[flow.block_of[n]];
    for (; n < b.end; ++n)
      if (++steps > most_steps || !walk.pass(body.instructions[n])) return walk.is_early();
    for (const std::uint32_t s : b.successors) {
      if (s >= flow.blocks.size()) continue;
      const auto [known, is_new] = at_start.try_emplace(s, walk);
      if (is_new || known->second.join(walk)) open.push_back(s);
    }
    return false;
  };
  product_walk first(body.instructions[product]);
  if (product + 1 < body.instructions.size() &&
      flow.block_of[product + 1] == flow.block_of[product]) {
    if (passes(first, product + 1)) return true;
  }
  while (!open.empty()) {
    const std::uint32_t b = open.back();
    open.pop_back();
    if (passes(at_start.at(b), flow.blocks[b].first)) return true;
  }
  return steps > most_steps;
}

}  // namespace

bool may_use_sums_early(const ptx::body& body, const control_flow& flow) {
  for (std::uint32_t n = 0; n < flow.block_of.size(); ++n)
    if (is_product(body.instructions[n]) && may_be_used_early(body, flow, n)) return true;
  return false;
}

void sum_steps::add_function(const program& code, std::uint32_t function) {
  const program_function& f = code.functions[function];
  const auto& all = f.body->instructions;
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  const auto add = [&](std::string_view name) {
    return numbers.try_emplace(name, registers_ + static_cast<std::uint32_t>(numbers.size()))
        .second;
  };
  const auto is_known = [&](std::string_view name) { return numbers.contains(name); };
  for (const ptx::instruction& i : all)
    if (is_product(i))
      for (const auto r : names_changed_by(i)) add(r);
  for (bool grows = true; grows;) {
    grows = false;
    for (const ptx::instruction& i : all)
      if (i.opcode == "mov" && std::ranges::any_of(names_used_by(i), is_known))
        for (const auto w : names_changed_by(i)) grows |= add(w);
  }
  const std::uint32_t first = code.code[f.first_op].ordinal;
  for (std::uint32_t n = 0; n < all.size(); ++n) {
    const ptx::instruction& i = all[n];
    step s;
    s.ordinal = first + n;
    s.function = function;
    s.instruction = n;
    for (const auto r : names_used_by(i))
      if (is_known(r)) s.reads.push_back(numbers.at(r));
    for (const auto w : names_changed_by(i))
      if (is_known(w)) s.writes.push_back(numbers.at(w));
    using enum step::kind;
    if (is_product(i))
      s.what = product;
    else if (i.opcode == "wgmma" && ptx::has_modifier(i, "commit_group"))
      s.what = commit;
    else if (i.opcode == "wgmma" && ptx::has_modifier(i, "wait_group"))
      s.what = wait, s.left = i.operands.at(0).bits;
    else if (i.opcode == "mov" && !s.reads.empty())
      s.what = copy;
    if (s.what != other || !s.reads.empty() || !s.writes.empty()) steps_.push_back(std::move(s));
  }
  registers_ += static_cast<std::uint32_t>(numbers.size());
}

std::pair<const sum_steps::step*, const sum_steps::step*> sum_steps::between(
    std::uint32_t first, std::uint32_t end) const {
  const auto from = std::ranges::lower_bound(steps_, first, {}, &step::ordinal);
  const auto to = std::ranges::lower_bound(from, steps_.end(), end, {}, &step::ordinal);
  return {std::to_address(from), std::to_address(to)};
}

}  // namespace stepwise::emulator
