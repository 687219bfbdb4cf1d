// Reads each chain of joined blocks in order, then chooses the products that are fused into sums.
#include "common/emulator/lower/fusion.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "common/emulator/lower/fusible.hpp"
#include "common/emulator/lower/joined_blocks.hpp"

namespace stepwise::emulator {
namespace {

using namespace fusible;
using ptx::operand;
using ptx::operand_kind;

constexpr std::uint32_t none = 0xffffffffu;
// The most visits of blocks, per block of the body, to find where values are read.
constexpr std::size_t most_visits = 64;

class finder {
 public:
  finder(const ptx::body& body, const control_flow& flow, bool is_entry)
      : body_(body), flow_(flow), is_entry_(is_entry) {}

  fusion find() {
    if (std::ranges::none_of(body_.instructions, is_product)) return {};
    number_registers();
    find_needed();
    chains_ = joined_blocks(body_, flow_);
    find_readers();
    for (const std::vector<std::uint32_t>& chain : chains_) read_chain(chain);
    choose();
    keep_chosen();
    return std::move(found_);
  }

 private:
  struct product {
    std::uint32_t instruction = 0, chain = 0, segment = 0, uses = 0;
    bool lost = false;      // its own value is needed
    bool anywhere = false;  // a factor is constant, so it is fused in other blocks too
    // For each factor's register: the last write before it, and whether another write follows
    // before a sum.
    std::uint32_t written[2] = {0, 0};
    bool overwritten[2] = {false, false};
    std::vector<std::uint32_t> copies;
  };
  struct value {  // a register's value in this chain
    std::uint32_t chain = none, product = none, sum = none;
    bool negated = false;
    bool flushed = false;  // by neg.ftz
  };
  struct sum {
    std::uint32_t instruction = 0;
    value of[2];  // without a product: some other number
    bool settled = false;
    bool compared = false;  // with zero, which ptxas turns into a comparison of its operands
  };

  // --- registers ---------------------------------------------------------------------------------

  template <class Act>
  static void for_names(const operand& o, Act&& act) {
    if (!o.name.empty()) act(o.name);
    for (const operand& e : o.elements) for_names(e, act);
  }

  void number_registers() {
    for (const instruction& i : body_.instructions)
      for (const operand& o : i.operands)
        for_names(o, [&](std::string_view name) {
          number_.try_emplace(name, static_cast<std::uint32_t>(number_.size()));
        });
    values_.resize(number_.size());
    written_.resize(number_.size());
    read_early_.resize(number_.size());
    writes_of_.resize(number_.size());
    constants_.resize(number_.size());
    for (const instruction& i : body_.instructions) {
      if (i.operands.empty()) continue;
      const bool surely = i.guard.empty() && gives_result(i);
      for_names(i.operands[0], [&](std::string_view name) {
        const std::uint32_t r = number_.at(name);
        constants_[r] = is_constant_move(i) ? &i : nullptr;
        writes_of_[r] += surely ? 1 : 2;
      });
    }
  }

  // Whether `i` moves a literal, kernel parameter or constant memory, which ptxas uses as operands.
  bool is_constant_move(const instruction& i) const {
    if (i.operands.size() != 2 || i.operands[0].kind != operand_kind::name) return false;
    if (i.opcode == "mov") return is_literal(i.operands[1]);
    return i.opcode == "ld" && has_any(i, {"param", "const"}) && is_entry_ && !has(i, "volatile") &&
           number_.contains(i.operands[1].name) && writes_of(i.operands[1]) == 0;
  }

  // The number of writes to register `o`. Uncertain writes count as more than 1.
  unsigned writes_of(const operand& o) const {
    return o.kind == operand_kind::name || o.kind == operand_kind::memory
               ? writes_of_[number_.at(o.name)]
               : 0;
  }

  static bool is_literal(const operand& o) {
    return o.kind == operand_kind::integer || o.kind == operand_kind::float32 ||
           o.kind == operand_kind::float64;
  }

  bool is_constant(const operand& o) const {
    return is_literal(o) || (o.kind == operand_kind::name && writes_of(o) == 1 &&
                             constants_[number_.at(o.name)] != nullptr);
  }

  // The bits of an operand of a floating type, if it is a literal or a register that holds one.
  std::optional<std::uint64_t> literal(const operand& o, scalar_type type) const {
    if (!is_constant(o)) return {};
    if (o.kind == operand_kind::name) {
      const instruction& i = *constants_[number_.at(o.name)];
      return i.opcode == "mov" ? literal(i.operands[1], type) : std::nullopt;
    }
    // The value of a literal of the other width does not matter here.
    const bool is_bits = o.kind == operand_kind::integer ||
                         (o.kind == operand_kind::float64) == (type == scalar_type::f64);
    return is_bits ? o.bits : 0;
  }

  // --- dead instructions, which ptxas removes before it fuses ------------------------------------

  // An instruction is needed if it does more than give a result, or if a needed instruction reads a
  // register that it writes.
  void find_needed() {
    const auto& all = body_.instructions;
    needed_.assign(all.size(), false);
    std::vector<std::vector<std::uint32_t>> writers(number_.size());
    std::vector<std::uint32_t> todo;
    for (std::uint32_t n = 0; n < all.size(); ++n) {
      if (!is_pure(all[n])) {
        needed_[n] = true;
        todo.push_back(n);
      } else if (!all[n].operands.empty()) {
        for_names(all[n].operands[0],
                  [&](std::string_view name) { writers[number_.at(name)].push_back(n); });
      }
    }
    // A predicate that only guards refer to has no number.
    const auto need = [&](std::string_view name) {
      const auto r = number_.find(name);
      if (r == number_.end()) return;
      for (const std::uint32_t w : writers[r->second]) {
        if (needed_[w]) continue;
        needed_[w] = true;
        todo.push_back(w);
      }
      writers[r->second].clear();
    };
    while (!todo.empty()) {
      const instruction& i = all[todo.back()];
      todo.pop_back();
      need(i.guard);
      for (std::size_t k = is_pure(i) ? 1 : 0; k < i.operands.size(); ++k)
        for_names(i.operands[k], need);
    }
  }

  // --- blocks -----------------------------------------------------------------------------------

  void find_readers() {
    const auto& blocks = flow_.blocks;
    read_first_.resize(number_.size());
    written_in_.resize(number_.size());
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      for (std::uint32_t n = blocks[b].first; n < blocks[b].end; ++n) {
        const instruction& i = body_.instructions[n];
        const bool result = gives_result(i);
        const auto read = [&](std::string_view name) {
          const std::uint32_t r = number_.at(name);
          const bool before = written_in_[r].empty() || written_in_[r].back() != b;
          if (before && (read_first_[r].empty() || read_first_[r].back() != b))
            read_first_[r].push_back(b);
        };
        for (std::size_t k = result && i.guard.empty() ? 1 : 0; k < i.operands.size(); ++k)
          for_names(i.operands[k], read);
        if (!result || !i.guard.empty()) continue;
        for_names(i.operands[0], [&](std::string_view name) {
          auto& in = written_in_[number_.at(name)];
          if (in.empty() || in.back() != b) in.push_back(b);
        });
      }
    }
    visits_left_ = most_visits * blocks.size();
    visited_by_.assign(blocks.size(), none);
  }

  // Whether a block after b may read the value that register r has at b's end. True if the search
  // takes too long.
  bool is_read_after(std::uint32_t b, std::uint32_t r) {
    const std::vector<std::uint32_t>& readers = read_first_[r];
    if (readers.empty()) return false;
    const std::uint32_t visit = ++visits_;
    std::vector<std::uint32_t> todo = flow_.blocks[b].successors;
    while (!todo.empty()) {
      const std::uint32_t at = todo.back();
      todo.pop_back();
      if (visited_by_[at] == visit) continue;
      visited_by_[at] = visit;
      if (std::ranges::binary_search(readers, at) || visits_left_ == 0) return true;
      --visits_left_;
      if (std::ranges::binary_search(written_in_[r], at)) continue;
      const auto& next = flow_.blocks[at].successors;
      todo.insert(todo.end(), next.begin(), next.end());
    }
    return false;
  }

  // --- values ------------------------------------------------------------------------------------

  value value_of(const operand& o) const {
    if (o.kind != operand_kind::name) return {};
    return value_in(number_.at(o.name));
  }

  // A register that is written once has its value in other blocks, too.
  value value_in(std::uint32_t r) const {
    const value& v = values_[r];
    return v.chain == chain_ || writes_of_[r] == 1 ? v : value{};
  }

  void lose(const value& v) {
    if (v.product != none) products_[v.product].lost = true;
  }

  void lose_all(const operand& o) {
    for_names(o, [&](std::string_view name) { lose(value_in(number_.at(name))); });
  }

  void write(const operand& o, const value& v) {
    for_names(o, [&](std::string_view name) {
      const std::uint32_t r = number_.at(name);
      values_[r] = {chain_, v.product, v.sum, v.negated, v.flushed};
      written_[r] = ++writes_;
      if (v.product == none) return;
      if (writes_of_[r] != 1)
        holders_.push_back(r);
      else if (read_early_[r])
        lose(v);
    });
  }

  std::uint32_t last_write(const operand& o) const {
    return o.kind == operand_kind::name ? written_[number_.at(o.name)] : 0;
  }

  // The value of `o` that `i` may fuse. Has no product if `i` must not fuse it.
  value usable(const operand& o, const instruction& i) {
    const value v = value_of(o);
    if (v.product == none) return {};
    const product& p = products_[v.product];
    const instruction& mul = body_.instructions[p.instruction];
    if ((p.segment == segment_ || p.anywhere) && type_of(mul) == type_of(i) &&
        has(mul, "ftz") == has(i, "ftz"))
      return v;
    lose(v);
    return {};
  }

  // The value of a copy or negation of operand `k` of instruction `n`.
  value copied(std::uint32_t n, std::size_t k, bool negates) {
    const instruction& i = body_.instructions[n];
    value v = value_of(i.operands[k]);
    if (v.product == none) return negates || i.opcode != "mov" ? value{} : v;
    product& p = products_[v.product];
    const instruction& mul = body_.instructions[p.instruction];
    // A copy with .ftz counts only for a product with .ftz, and not after a neg.ftz.
    if ((has(i, "ftz") && (v.flushed || !has(mul, "ftz"))) ||
        (i.opcode != "mov" && type_of(i) != type_of(mul))) {
      lose(v);
      return {};
    }
    v.flushed = i.opcode == "neg" && has(i, "ftz");
    p.copies.push_back(n);
    v.negated ^= negates;
    return v;
  }

  // The factor that `i` copies if it is a product with 1 or -1. Empty otherwise.
  std::optional<std::size_t> copied_factor(const instruction& i, bool& negates) const {
    const scalar_type type = type_of(i);
    const std::uint64_t one = bits_of_one(type);
    if (i.opcode != "mul" || i.operands.size() != 3 || one == 0 || !i.guard.empty() ||
        has_any(i, {"sat", "rz", "rm", "rp"}))
      return {};
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
      const auto bits = literal(i.operands[k], type);
      if (!bits) continue;
      negates = *bits == (one | sign_bit(type));
      if (*bits == one || (negates && !has(i, "rn"))) return 3 - k;
    }
    return {};
  }

  bool is_constant_product(const instruction& i) const {
    return literal(i.operands[1], type_of(i)) && literal(i.operands[2], type_of(i));
  }

  // div.approx.ftz of 1 or -1 is rcp.approx.ftz: there is no product.
  bool is_reciprocal(const instruction& i) const {
    if (!is_quotient(i) || !leaves_dividend(i)) return false;
    const auto bits = literal(i.operands[1], type_of(i));
    return bits && (*bits & ~sign_bit(type_of(i))) == bits_of_one(type_of(i));
  }

  // Whether the first factor is the dividend itself: other forms scale it with the divisor.
  static bool leaves_dividend(const instruction& i) { return has(i, "approx") && has(i, "ftz"); }

  bool has_constant_factor(const instruction& i) const {
    if (is_quotient(i)) return leaves_dividend(i) && is_constant(i.operands[1]);
    return is_constant(i.operands[1]) || is_constant(i.operands[2]);
  }

  static bool is_copy(const instruction& i) {
    return i.opcode == "mov" && i.guard.empty() && i.operands.size() == 2 &&
           i.operands[0].kind == operand_kind::name && i.operands[1].kind == operand_kind::name;
  }

  static bool is_negation(const instruction& i) {
    return i.opcode == "neg" && i.guard.empty() && i.operands.size() == 2 &&
           type_of(i) != scalar_type::bf16x2;
  }

  // --- chains of blocks --------------------------------------------------------------------------

  void read_chain(const std::vector<std::uint32_t>& chain) {
    ++chain_;
    ++segment_;
    holders_.clear();
    for (const std::uint32_t b : chain)
      for (std::uint32_t n = flow_.blocks[b].first; n < flow_.blocks[b].end; ++n) {
        if (divides_block(body_.instructions[n])) ++segment_;
        if (needed_[n]) read(n);
      }
    for (const std::uint32_t r : holders_) {
      const value& v = values_[r];
      if (v.product != none && !products_[v.product].lost && is_read_after(chain.back(), r))
        products_[v.product].lost = true;
    }
  }

  void read(std::uint32_t n) {
    const instruction& i = body_.instructions[n];
    if (i.operands.empty()) return;
    value result;
    bool negates = false;
    for (std::size_t k = gives_result(i) ? 1 : 0; k < i.operands.size(); ++k)
      for_names(i.operands[k], [&](std::string_view name) {
        const std::uint32_t r = number_.at(name);
        if (written_[r] == 0) read_early_[r] = true;
      });
    if (is_copy(i)) {
      result = copied(n, 1, false);
    } else if (is_negation(i)) {
      result = copied(n, 1, true);
    } else if (const auto factor = copied_factor(i, negates)) {
      result = copied(n, *factor, negates);
    } else if (is_sum(i)) {
      result.sum = add(n);
    } else {
      if (compares_with_zero(i)) compare(i);
      for (std::size_t k = gives_result(i) ? 1 : 0; k < i.operands.size(); ++k)
        lose_all(i.operands[k]);
      if (is_product(i) && !is_constant_product(i) && !is_reciprocal(i)) {
        product p{.instruction = n, .chain = chain_, .segment = segment_, .copies = {}};
        p.anywhere = has_constant_factor(i);
        for (const std::size_t k : {0, 1}) p.written[k] = last_write(i.operands[k + 1]);
        result.product = static_cast<std::uint32_t>(products_.size());
        products_.push_back(std::move(p));
      }
    }
    if (!i.guard.empty()) lose_all(i.operands[0]);  // keeps its value where the guard is false
    write(i.operands[0], result);
  }

  // A sum is above zero if one operand is above the other's negative.
  void compare(const instruction& i) {
    for (const operand& o : i.operands)
      if (const value v = value_of(o); v.sum != none) sums_[v.sum].compared = true;
  }

  std::uint32_t add(std::uint32_t n) {
    const instruction& i = body_.instructions[n];
    const sum s{.instruction = n, .of = {usable(i.operands[1], i), usable(i.operands[2], i)}};
    if (s.of[0].product == none && s.of[1].product == none) return none;
    if (s.of[0].product == s.of[1].product) {
      lose(s.of[0]);
      return none;
    }
    for (const value& v : s.of) {
      if (v.product == none) continue;
      product& p = products_[v.product];
      ++p.uses;
      const instruction& mul = body_.instructions[p.instruction];
      for (const std::size_t f : {0, 1})
        p.overwritten[f] |= p.chain == chain_ ? last_write(mul.operands[f + 1]) != p.written[f]
                                              : writes_of(mul.operands[f + 1]) > 1;
    }
    sums_.push_back(s);
    return static_cast<std::uint32_t>(sums_.size()) - 1;
  }

  // If a sum has two products, the product that is added is lost.
  void choose() {
    const auto is_candidate = [&](const value& v) {
      return v.product != none && !products_[v.product].lost;
    };
    const auto uses = [&](const value& v) { return products_[v.product].uses; };
    for (sum& s : sums_) {
      if (is_half(type_of(body_.instructions[s.instruction]))) continue;
      for (const std::size_t k : {0, 1}) {
        if (!is_candidate(s.of[k]) || uses(s.of[k]) != 1) continue;
        lose(s.of[1 - k]);
        s.settled = true;
        break;
      }
    }
    for (const sum& s : sums_) {
      const instruction& i = body_.instructions[s.instruction];
      if (!s.compared || s.settled || type_of(i) != scalar_type::f32 || has(i, "ftz")) continue;
      lose(s.of[0]);
      lose(s.of[1]);
    }
    for (const sum& s : sums_)
      if (!s.settled && is_candidate(s.of[0]) && is_candidate(s.of[1]))
        lose(s.of[uses(s.of[1]) < uses(s.of[0]) ? 0 : 1]);
  }

  void keep_chosen() {
    for (const sum& s : sums_) {
      const bool subtracts = body_.instructions[s.instruction].opcode == "sub";
      for (const unsigned k : {0u, 1u}) {
        if (s.of[k].product == none || products_[s.of[k].product].lost) continue;
        const product& p = products_[s.of[k].product];
        found_.sums[s.instruction] = {.product = p.instruction,
                                      .addend = 2 - k,
                                      .product_negated = s.of[k].negated != (subtracts && k == 1),
                                      .addend_negated = subtracts && k == 0};
        found_.products[p.instruction] = {{p.overwritten[0], p.overwritten[1]}};
        found_.copies.insert(p.copies.begin(), p.copies.end());
      }
    }
  }

  const ptx::body& body_;
  const control_flow& flow_;
  const bool is_entry_;
  fusion found_;

  std::unordered_map<std::string_view, std::uint32_t> number_;  // by register, or another name
  std::vector<const instruction*> constants_;  // by register: its last write of a constant
  std::vector<unsigned> writes_of_;            // by register: how often; guarded writes count twice
  std::vector<bool> needed_;                   // by instruction

  std::vector<std::vector<std::uint32_t>> chains_;  // blocks, in order
  // By register: the blocks that read it before they write it, and the blocks that write it without
  // a guard. Both are in ascending order.
  std::vector<std::vector<std::uint32_t>> read_first_, written_in_;
  std::vector<std::uint32_t> visited_by_;  // by block: the last visit
  std::uint32_t visits_ = 0;
  std::size_t visits_left_ = 0;

  std::uint32_t chain_ = 0, segment_ = 0, writes_ = 0;
  std::vector<value> values_;           // by register, now
  std::vector<bool> read_early_;        // by register: before anything writes to it
  std::vector<std::uint32_t> written_;  // by register: the number of its last write
  std::vector<std::uint32_t> holders_;  // registers that held products
  std::vector<product> products_;
  std::vector<sum> sums_;
};

}  // namespace

fusion find_fusion(const ptx::body& body, const control_flow& flow, bool is_entry) {
  return finder(body, flow, is_entry).find();
}

}  // namespace stepwise::emulator
