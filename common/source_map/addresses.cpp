// Follows registers to their roots, and computes alignments by arithmetic on known low bits.
#include "common/source_map/addresses.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <utility>

#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::uint32_t largest = 16;

// The most operands that decide an instruction's alignment. The result is always operand 0.
constexpr std::size_t most_operands = 4;

bool is_literal(const ptx::operand& o) { return o.kind == ptx::operand_kind::integer; }

alignment of_literal(std::uint64_t bits) {
  return {largest, static_cast<std::uint32_t>(bits % largest)};
}

// The strictest alignment that both values have.
alignment meet(alignment a, alignment b) {
  std::uint32_t m = std::min(a.modulus, b.modulus);
  while (a.residue % m != b.residue % m) m /= 2;
  return {m, a.residue % m};
}

alignment sum(alignment a, alignment b) {
  const std::uint32_t m = std::min(a.modulus, b.modulus);
  return {m, (a.residue + b.residue) % m};
}

alignment difference(alignment a, alignment b) {
  const std::uint32_t m = std::min(a.modulus, b.modulus);
  return {m, (a.residue + m - b.residue % m) % m};
}

alignment product(alignment a, std::uint64_t factor) {
  const std::uint64_t power = factor == 0 ? largest : (factor & (~factor + 1));
  const auto m = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(largest, a.modulus * std::min<std::uint64_t>(power, largest)));
  return {m, static_cast<std::uint32_t>(a.residue * (factor % largest) % m)};
}

// Bits that the mask clears are known, no matter what they were before.
alignment masked(alignment a, std::uint64_t mask) {
  const auto bits = static_cast<std::uint32_t>(mask % largest);
  while (a.modulus < largest && (bits & a.modulus) == 0) a.modulus *= 2;
  a.residue &= bits;
  return a;
}

alignment with_bits(alignment a, std::uint64_t set) {
  const auto bits = static_cast<std::uint32_t>(set % largest);
  a.residue |= bits & (a.modulus - 1);
  while (a.modulus < largest && (bits & a.modulus) != 0) {
    a.residue |= a.modulus;
    a.modulus *= 2;
  }
  return a;
}

// Keeps the bits that are known in both values.
template <class Combine>
alignment bitwise(alignment a, alignment b, Combine combine) {
  const std::uint32_t m = std::min(a.modulus, b.modulus);
  return {m, combine(a.residue, b.residue) % m};
}

template <class Visit>
void for_each_name(const ptx::operand& o, Visit visit) {
  if (!o.name.empty()) visit(o.name);
  for (const ptx::operand& e : o.elements) for_each_name(e, visit);
}

std::int64_t signed_value(std::uint64_t bits, unsigned width) {
  return width == 32 ? static_cast<std::int32_t>(bits) : static_cast<std::int64_t>(bits);
}

unsigned width_of(const ptx::instruction& i) {
  return i.modifiers.empty() ? 0 : 8 * ptx::bytes_of(ptx::type_of(i.modifiers.back()));
}

bool is_integer_type(std::string_view name) {
  return name.starts_with('u') || name.starts_with('s') || name.starts_with('b');
}

}  // namespace

address_table::address_table(const ptx::module& m, const ptx::body& body)
    : module_(m), body_(body), reads_(ptx::names_read(body)) {
  for (const ptx::variable& v : body.variables) variables_.try_emplace(v.name, &v);
  find_definitions();
  find_values();
  find_alignments();
}

void address_table::find_definitions() {
  for (std::uint32_t n = 0; n < body_.instructions.size(); ++n) {
    const ptx::instruction& i = body_.instructions[n];
    // The first operand is usually the result. If it is not (a store's address, a barrier's
    // number), the name seems to have one more definition. That is harmless, because the name is
    // only followed less far.
    if (i.operands.empty() || i.operands[0].kind == ptx::operand_kind::memory) continue;
    for_each_name(i.operands[0], [&](std::string_view name) {
      definitions_[name].push_back({n, !i.guard.empty()});
    });
  }
}

bool address_table::is_read(std::string_view name) const { return reads_.contains(name); }

std::optional<address_table::step> address_table::step_of(std::string_view name) const {
  const auto found = definitions_.find(name);
  if (found == definitions_.end()) return {};  // a variable or a parameter
  const auto& all = found->second;
  if (all.size() > 1 || all.front().guarded) return {};
  const ptx::instruction& i = body_.instructions[all.front().at];
  const auto& o = i.operands;
  const bool is_move = i.opcode == "mov" || i.opcode == "cvta";
  const bool is_sum = (i.opcode == "add" || i.opcode == "sub") && o.size() == 3;
  const bool is_name = o.size() > 1 && o[1].kind == ptx::operand_kind::name && !o[1].negated;
  if (is_move && is_name && o[0].kind == ptx::operand_kind::name) return step{o[1].name, 0};
  if (is_move && o.size() == 2 && o[1].kind == ptx::operand_kind::offset) {
    return step{o[1].name, o[1].offset};
  }
  const unsigned width = width_of(i);
  if (is_sum && is_name && is_literal(o[2]) && (width == 32 || width == 64) &&
      is_integer_type(i.modifiers.back())) {
    const std::int64_t distance = signed_value(o[2].bits, width);
    return step{o[1].name, i.opcode == "add" ? distance : -distance};
  }
  return {};
}

// Follows the steps of every register to its root, and stores the values of all registers on the
// path.
void address_table::find_values() {
  // The names on the path, and the distance of each step.
  std::vector<std::pair<std::string_view, std::int64_t>> path;
  for (const auto& [first, definitions] : definitions_) {
    symbolic_address end{first, 0, 0};
    std::uint32_t used_at = 0;
    path.clear();
    while (true) {
      const auto known = values_.find(end.root);
      if (known != values_.end()) {
        end = known->second;
        break;
      }
      const auto next = step_of(end.root);
      if (!next) {
        end.version = path.empty() ? 0 : version_at(end.root, used_at);
        break;
      }
      // Circular definitions, which no compiler writes, end at the register where they began.
      values_[end.root] = {end.root, 0, 0};
      path.emplace_back(end.root, next->distance);
      used_at = definitions_.at(end.root).front().at;
      end.root = next->to;
    }
    for (; !path.empty(); path.pop_back()) {
      end.offset += path.back().second;
      if (path.back().first != end.root) values_[path.back().first] = end;
    }
  }
}

std::uint32_t address_table::version_at(std::string_view root, std::uint32_t at) const {
  const auto found = definitions_.find(root);
  if (found == definitions_.end()) return 0;
  const auto& all = found->second;
  if (all.size() == 1 && !all.front().guarded) return 0;
  const auto end = std::lower_bound(all.begin(), all.end(), at,
                                    [](const definition& d, std::uint32_t n) { return d.at < n; });
  return static_cast<std::uint32_t>(end - all.begin());
}

symbolic_address address_table::resolve(const ptx::operand& memory, std::uint32_t at) const {
  const auto known = values_.find(memory.name);
  symbolic_address a{memory.name, 0, 0};
  if (known != values_.end())
    a = known->second;
  else
    a.version = version_at(memory.name, at);
  a.offset += memory.offset;
  return a;
}

alignment address_table::of_variable(std::string_view name) const {
  const auto own = variables_.find(name);
  const ptx::variable* v = own != variables_.end() ? own->second : module_.find_variable(name);
  if (v == nullptr) return {};  // a parameter, a special register
  const bool is_placed =
      v->space == ptx::state_space::shared || v->space == ptx::state_space::local;
  return {is_placed ? largest : std::clamp(v->alignment, 1u, largest), 0};
}

alignment address_table::alignment_of(const symbolic_address& a) const {
  if (a.root.empty()) return {largest, 0};
  const auto known = alignments_.find(a.root);
  if (known != alignments_.end()) return known->second;
  return definitions_.count(a.root) != 0 ? alignment{} : of_variable(a.root);
}

// Called only for names that are already known.
alignment address_table::of_value(const ptx::operand& o) const {
  if (is_literal(o)) return of_literal(o.bits);
  if (o.kind != ptx::operand_kind::name && o.kind != ptx::operand_kind::offset) return {};
  const auto known = alignments_.find(o.name);
  const alignment base = known != alignments_.end() ? known->second : of_variable(o.name);
  return sum(base, of_literal(static_cast<std::uint64_t>(o.offset)));
}

alignment address_table::of_result(const ptx::instruction& i) const {
  const auto& o = i.operands;
  if (o.size() < 2 || o[0].kind != ptx::operand_kind::name || i.modifiers.empty()) return {};
  if (!is_integer_type(i.modifiers.back())) return {};
  const alignment a = of_value(o[1]);
  if (i.opcode == "mov" || i.opcode == "cvta") return a;
  if (i.opcode == "cvt") {
    const bool from_integer = i.modifiers.size() >= 2 && is_integer_type(i.modifiers.back());
    return from_integer ? a : alignment{};
  }
  if (o.size() < 3) return {};
  const alignment b = of_value(o[2]);
  if (i.opcode == "add") return sum(a, b);
  if (i.opcode == "sub") return difference(a, b);
  if (i.opcode == "selp") return meet(a, b);
  if (i.opcode == "and" && is_literal(o[2])) return masked(a, o[2].bits);
  if (i.opcode == "or" && is_literal(o[2])) return with_bits(a, o[2].bits);
  if (i.opcode == "and") return bitwise(a, b, std::bit_and<std::uint32_t>());
  if (i.opcode == "or") return bitwise(a, b, std::bit_or<std::uint32_t>());
  if (i.opcode == "xor") return bitwise(a, b, std::bit_xor<std::uint32_t>());
  if (i.opcode == "shl" && is_literal(o[2])) {
    return product(a, std::uint64_t{1} << std::min<std::uint64_t>(o[2].bits, 63));
  }
  const bool is_low = i.modifiers[0] == "lo" || i.modifiers[0] == "wide";
  if (is_low && is_literal(o[2])) {
    const alignment p = product(a, o[2].bits);
    if (i.opcode == "mul") return p;
    if (i.opcode == "mad" && o.size() == 4) return sum(p, of_value(o[3]));
  }
  return {};
}

// Starts from the strictest possible alignments, and lowers them until no instruction contradicts
// them. A register that a loop adds to is right once the addition has been examined again. An
// alignment is never raised, and is lowered at most four times.
void address_table::find_alignments() {
  const auto count = static_cast<std::uint32_t>(body_.instructions.size());
  const auto last_source = [](const ptx::instruction& i) {
    return std::min(i.operands.size(), most_operands);
  };
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> users;
  for (std::uint32_t n = 0; n < count; ++n) {
    const ptx::instruction& i = body_.instructions[n];
    if (i.operands.empty() || i.operands[0].kind != ptx::operand_kind::name) continue;
    for (std::size_t k = 1; k < last_source(i); ++k)
      if (definitions_.count(i.operands[k].name) != 0) users[i.operands[k].name].push_back(n);
  }
  std::deque<std::uint32_t> todo(count);
  std::iota(todo.begin(), todo.end(), 0);
  std::vector<bool> waits(count, true);  // whether an instruction is in `todo`
  for (; !todo.empty(); todo.pop_front()) {
    waits[todo.front()] = false;
    const ptx::instruction& i = body_.instructions[todo.front()];
    if (i.operands.empty() || i.operands[0].kind == ptx::operand_kind::memory) continue;
    bool ready = true;
    if (i.operands[0].kind == ptx::operand_kind::name)
      for (std::size_t k = 1; k < last_source(i); ++k)
        ready = ready && (definitions_.count(i.operands[k].name) == 0 ||
                          alignments_.count(i.operands[k].name) != 0);
    if (!ready) continue;  // examined again when they are known
    const alignment result = of_result(i);
    for_each_name(i.operands[0], [&](std::string_view name) {
      const auto [at, is_new] = alignments_.try_emplace(name, result);
      const alignment lower = is_new ? result : meet(at->second, result);
      if (!is_new && lower == at->second) return;
      at->second = lower;
      const auto by = users.find(name);
      if (by == users.end()) return;
      for (const std::uint32_t n : by->second) {
        if (!waits[n]) todo.push_back(n);
        waits[n] = true;
      }
    });
  }
}

}  // namespace stepwise::emulator
