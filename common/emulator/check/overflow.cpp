// Computes an index again, with as many bits as it needs.
#include "common/emulator/check/overflow.hpp"

#include <vector>

#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

using wide = __int128;

constexpr int deepest_index = 16;           // dependent operations
constexpr int most_operations = 200;        // of one address
constexpr wide most_wide = wide{1} << 100;  // larger values are not computed further
constexpr std::int64_t unsigned_limit = std::int64_t{1} << 32;

std::string text_of(wide v) {
  if (v < 0) return "-" + text_of(-v);
  std::string text;
  do text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(v % 10)));
  while ((v /= 10) != 0);
  return text;
}

class index_search {
 public:
  using values = std::function<std::optional<std::uint64_t>(std::string_view)>;
  index_search(const register_flow& flow, const values& value_of)
      : flow_(flow), value_of_(value_of) {}

  // Follows 64-bit values to where an index was widened.
  std::optional<overflowed_index> in_address(const ptx::operand& o, int depth) {
    const ptx::instruction* const i = definition_of(o);
    if (i == nullptr || depth == 0 || --left_ < 0) return std::nullopt;
    const auto has = [&](std::string_view m) { return ptx::has_modifier(*i, m); };
    const bool widens = (i->opcode == "mul" || i->opcode == "mad") && has("wide");
    const bool converts = i->opcode == "cvt" && i->modifiers.size() == 2 &&
                          (i->modifiers[0] == "s64" || i->modifiers[0] == "u64") &&
                          (i->modifiers[1] == "s32" || i->modifiers[1] == "u32");
    if (widens || converts) {
      const bool is_signed = widens ? has("s32") : i->modifiers[1] == "s32";
      if (widens && !has("s32") && !has("u32")) return std::nullopt;
      if (auto found = of_index(i->operands[1], is_signed)) return found;
      return widens && i->opcode == "mad" ? in_address(i->operands[3], depth - 1) : std::nullopt;
    }
    const bool passes = i->opcode == "add" || i->opcode == "sub" || i->opcode == "shl" ||
                        i->opcode == "mul" || i->opcode == "mad" || i->opcode == "cvta" ||
                        i->opcode == "mov";
    if (!passes) return std::nullopt;
    for (std::size_t n = 1; n < i->operands.size(); ++n)
      if (auto found = in_address(i->operands[n], depth - 1)) return found;
    return std::nullopt;
  }

 private:
  const ptx::instruction* definition_of(const ptx::operand& o) {
    if (o.kind != ptx::operand_kind::name && o.kind != ptx::operand_kind::memory) return nullptr;
    const auto& defined = flow_.definitions_of(o.name);
    if (defined.size() != 1) return nullptr;
    number_ = defined[0];
    const ptx::instruction& i = flow_.at(defined[0]);
    return i.guard.empty() && i.operands.size() > 1 && i.operands[0].name == o.name ? &i : nullptr;
  }

  wide as_index(std::uint64_t bits) const {
    const auto low = static_cast<std::uint32_t>(bits);
    return is_signed_ ? wide{static_cast<std::int32_t>(low)} : wide{low};
  }
  bool fits(wide v) const {
    return is_signed_ ? v == static_cast<std::int32_t>(v) : v >= 0 && v < unsigned_limit;
  }

  std::optional<overflowed_index> of_index(const ptx::operand& o, bool is_signed) {
    is_signed_ = is_signed;
    wrapped_.reset();
    const auto present = value_of_(o.name);
    const auto exact = exact_of(o, deepest_index);
    if (o.kind != ptx::operand_kind::name || !present || !exact || !wrapped_ ||
        *exact == as_index(*present))
      return std::nullopt;
    return wrapped_;
  }

  // The value that the operand would have if registers had no limit.
  std::optional<wide> exact_of(const ptx::operand& o, int depth) {
    if (o.kind == ptx::operand_kind::integer)
      return wide{static_cast<std::int32_t>(static_cast<std::uint32_t>(o.bits))};
    if (o.kind != ptx::operand_kind::name) return std::nullopt;
    const auto present = value_of_(o.name);
    if (!present) return std::nullopt;
    const wide plain = as_index(*present);
    const ptx::instruction* const i = depth > 0 && --left_ > 0 ? definition_of(o) : nullptr;
    if (i == nullptr) return plain;
    const std::int32_t number = number_;
    const std::string_view op = i->opcode;
    const bool is_product = (op == "mul" || op == "mad") && ptx::has_modifier(*i, "lo");
    if ((op != "add" && op != "sub" && op != "shl" && op != "mov" && op != "not" && !is_product) ||
        ptx::bytes_of(ptx::value_type(*i)) != 4)
      return plain;
    std::vector<wide> parts;
    for (std::size_t n = 1; n < i->operands.size(); ++n) {
      const auto part = exact_of(i->operands[n], depth - 1);
      if (!part || *part > most_wide || *part < -most_wide) return plain;
      parts.push_back(*part);
    }
    const auto result = compute(op, parts);
    // An operand may have changed since.
    if (!result || static_cast<std::uint32_t>(*result) != static_cast<std::uint32_t>(*present))
      return plain;
    if (wrapped_) return result;
    // One instruction may multiply and add. A product that does not fit is the reason.
    const bool by_product = op == "mad" && !fits(parts[0] * parts[1]);
    if (by_product)
      wrapped_ = {number, words("mul", parts), text_of(parts[0] * parts[1]), is_signed_};
    else if (!fits(*result))
      wrapped_ = {number, words(op, parts), text_of(*result), is_signed_};
    return result;
  }

  static std::optional<wide> compute(std::string_view op, const std::vector<wide>& p) {
    if (op == "mov" && p.size() == 1) return p[0];
    // The compiler writes `- 1 - x` as `+ ~x`.
    if (op == "not" && p.size() == 1) return -1 - p[0];
    if (op == "add" && p.size() == 2) return p[0] + p[1];
    if (op == "sub" && p.size() == 2) return p[0] - p[1];
    if (op == "shl" && p.size() == 2 && p[1] >= 0 && p[1] < 32)
      return p[0] * (wide{1} << int(p[1]));
    const bool is_small = p.size() >= 2 && p[0] < (wide{1} << 60) && p[0] > -(wide{1} << 60) &&
                          p[1] < (wide{1} << 60) && p[1] > -(wide{1} << 60);
    if (op == "mul" && p.size() == 2 && is_small) return p[0] * p[1];
    if (op == "mad" && p.size() == 3 && is_small) return p[0] * p[1] + p[2];
    return std::nullopt;
  }

  static std::string plus(wide v) { return v < 0 ? " - " + text_of(-v) : " + " + text_of(v); }
  static std::string words(std::string_view op, const std::vector<wide>& p) {
    if (op == "mov") return text_of(p[0]);
    if (op == "not") return "-1" + plus(-p[0]);
    if (op == "add") return text_of(p[0]) + plus(p[1]);
    if (op == "sub") return text_of(p[0]) + plus(-p[1]);
    if (op == "shl") return text_of(p[0]) + " * " + text_of(wide{1} << int(p[1]));
    return text_of(p[0]) + " * " + text_of(p[1]) + (op == "mad" ? plus(p[2]) : "");
  }

  const register_flow& flow_;
  const values& value_of_;
  std::int32_t number_ = -1;
  int left_ = most_operations;
  bool is_signed_ = true;
  std::optional<overflowed_index> wrapped_;
};

}  // namespace

std::optional<overflowed_index> find_overflow(
    const register_flow& flow, std::int32_t access,
    const std::function<std::optional<std::uint64_t>(std::string_view)>& value_of) {
  const ptx::operand* const address = flow.address_of(access);
  if (address == nullptr) return std::nullopt;
  return index_search(flow, value_of).in_address(*address, deepest_index);
}

}  // namespace stepwise::emulator
