// Recognises an update by its address, which the load and the store compute in the same way, and by
// the value or the branch that leads from the load to the store.
#include "common/emulator/check/advice/word_updates.hpp"

#include <algorithm>

#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::size_t longest_chain =
    32;                           // instructions from the load's result to the stored value
constexpr int most_branches = 8;  // around a store

bool is_plain(const ptx::instruction& i, std::string_view opcode) {
  return i.opcode == opcode && ptx::space_of(i) != ptx::state_space::param;
}

word_change change_of_opcode(const ptx::instruction& i) {
  const bool is_float = i.modifiers.empty() || i.modifiers.back().starts_with("f") ||
                        i.modifiers.back().starts_with("bf");
  if (i.opcode == "add" || i.opcode == "sub" || i.opcode == "fma" || i.opcode == "mad")
    return word_change::addition;
  if (i.opcode == "and") return word_change::bits_and;
  if (i.opcode == "or") return word_change::bits_or;
  if (i.opcode == "xor") return word_change::bits_xor;
  if (i.opcode == "min" && !is_float) return word_change::minimum;
  if (i.opcode == "max" && !is_float) return word_change::maximum;
  return word_change::other;
}

// Whether this operand may be the old value: a - x adds to a, but x - a does not.
bool keeps_old_value(const ptx::instruction& i, std::size_t operand) {
  if (i.opcode == "sub") return operand == 1;
  if (i.opcode == "fma" || i.opcode == "mad") return operand == 3;
  return true;
}

// Finds how a value is computed from the value that `load` read. A register that merges paths has
// several definitions: the old value itself on one path and, in a loop, the sum so far on another.
class change_search {
 public:
  change_search(const register_flow& values, std::int32_t load) : values_(values), load_(load) {}

  word_change of(std::string_view name) {
    if (std::ranges::find(open_, name) != open_.end() || open_.size() > longest_chain)
      return reaches_load(name) ? word_change::identity : word_change::none;
    open_.push_back(name);
    word_change found = word_change::none;
    for (const std::int32_t n : values_.definitions_of(name)) {
      const word_change one = n == load_ ? word_change::identity : of_result(values_.at(n));
      if (one == found || one == word_change::none) continue;
      const bool first = found <= word_change::identity;
      found = first ? one : one == word_change::identity ? found : word_change::other;
    }
    open_.pop_back();
    return found;
  }

 private:
  word_change of_result(const ptx::instruction& i) {
    if (!ptx::traits_of(i).is_pure || !ptx::has_result(i)) return word_change::none;
    for (std::size_t k = 1; k < i.operands.size(); ++k) {
      if (i.operands[k].name.empty() || !reaches_load(i.operands[k].name)) continue;
      const word_change before = of(i.operands[k].name);
      if (before == word_change::none) continue;
      if (i.opcode == "mov" || i.opcode == "cvt") return before;
      const word_change here = change_of_opcode(i);
      const bool alike = before == word_change::identity || before == here;
      return alike && keeps_old_value(i, k) ? here : word_change::other;
    }
    return word_change::none;
  }

  bool reaches_load(std::string_view name) const {
    ptx::operand value;
    value.name = name;
    return values_.of(value).contains(load_);
  }

  const register_flow& values_;
  std::int32_t load_;
  std::vector<std::string_view> open_;  // registers whose search has not ended
};

// CUDA has no 1-byte atomic addition, and 2-byte ones only for __half and __nv_bfloat16.
bool has_atomic_function(const register_flow& values, const register_flow::sources& of_value,
                         const ptx::instruction& store) {
  const unsigned bytes = ptx::bytes_of(ptx::value_type(store));
  if (bytes >= 4) return true;
  return bytes == 2 && std::ranges::any_of(of_value.instructions, [&](std::int32_t n) {
           return ptx::has_modifier(values.at(n), "f16") || ptx::has_modifier(values.at(n), "bf16");
         });
}

bool is_constant(const register_flow& values, const register_flow::sources& of_value) {
  return of_value.names.empty() && std::ranges::all_of(of_value.instructions, [&](std::int32_t n) {
           return ptx::traits_of(values.at(n)).is_pure;
         });
}

// The load of the same word among the sources of a guard; -1 if there is none.
std::int32_t load_among(const register_flow& values, const register_flow::sources& guard,
                        std::int32_t store) {
  for (const std::int32_t n : guard.instructions)
    if (is_plain(values.at(n), "ld") && values.same_address(n, store)) return n;
  return -1;
}

// The load whose value decides whether the store happens.
std::int32_t deciding_load(const register_flow& values, const control_flow& flow,
                           std::int32_t store) {
  if (const auto own = load_among(values, values.of_guard(store), store); own >= 0) return own;
  std::vector<std::uint32_t> entries(flow.blocks.size(), 0);
  for (const basic_block& b : flow.blocks)
    for (const std::uint32_t to : b.successors) ++entries[to];
  std::uint32_t inner = flow.block_of[static_cast<std::size_t>(store)];
  for (int n = 0; n < most_branches; ++n) {
    const std::uint32_t outer = flow.blocks[inner].dominator;
    if (outer >= flow.blocks.size()) return -1;
    const auto last = static_cast<std::int32_t>(flow.blocks[outer].end) - 1;
    const bool decides = flow.blocks[outer].successors.size() > 1 && entries[inner] == 1;
    if (decides)
      if (const auto load = load_among(values, values.of_guard(last), store); load >= 0)
        return load;
    inner = outer;
  }
  return -1;
}

}  // namespace

std::optional<word_update> update_by_store(const register_flow& values, const control_flow& flow,
                                           std::int32_t store) {
  if (store < 0 || store >= values.size() || !is_plain(values.at(store), "st")) return std::nullopt;
  const ptx::operand& value = values.at(store).operands.back();
  const register_flow::sources from = values.of(value);
  for (const std::int32_t n : from.instructions) {
    if (!is_plain(values.at(n), "ld") || !values.same_address(n, store)) continue;
    const word_change how = value.kind == ptx::operand_kind::name
                                ? change_search(values, n).of(value.name)
                                : word_change::other;
    // A value that is only copied back changes nothing, and longer chains are not analysed.
    const bool is_named = how > word_change::identity && how < word_change::compared &&
                          has_atomic_function(values, from, values.at(store));
    return word_update{n, store, is_named ? how : word_change::other};
  }
  if (is_constant(values, from)) return std::nullopt;  // a constant that several threads may store
  const std::int32_t load = deciding_load(values, flow, store);
  if (load < 0) return std::nullopt;
  return word_update{load, store, word_change::compared};
}

std::optional<word_update> update_by_load(const register_flow& values, const control_flow& flow,
                                          std::int32_t load) {
  if (load < 0 || load >= values.size() || !is_plain(values.at(load), "ld")) return std::nullopt;
  for (std::int32_t n = 0; n < values.size(); ++n) {
    if (!is_plain(values.at(n), "st") || !values.same_address(load, n)) continue;
    const auto update = update_by_store(values, flow, n);
    if (update && update->load == load) return update;
  }
  return std::nullopt;
}

}  // namespace stepwise::emulator
