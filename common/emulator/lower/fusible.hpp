// The role of an instruction when ptxas fuses products into sums: see fusion.hpp.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "common/ptx/ast.hpp"

namespace stepwise::emulator::fusible {

using ptx::instruction;
using ptx::scalar_type;

bool has(const instruction& i, std::string_view modifier);
bool has_any(const instruction& i, std::initializer_list<std::string_view> modifiers);
// The first type among the modifiers.
scalar_type type_of(const instruction& i);
bool is_half(scalar_type t);

// Whether the instruction's only effect is its result, operand 0.
bool is_pure(const instruction& i);
// Whether operand 0 is only the result. Otherwise, every operand counts as read and written.
bool gives_result(const instruction& i);
// Whether ptxas turns the instruction into a branch or a call, as it does for a division, a fence,
// or an instruction with a guard and an effect besides its result.
bool divides_block(const instruction& i);

// A product or sum without a rounding modifier, which may become half of an fma. An approximate
// quotient is a product, of the dividend and a reciprocal.
bool is_quotient(const instruction& i);
bool is_product(const instruction& i);
bool is_sum(const instruction& i);

// The bits of 1 in a type in which ptxas treats products with 1 as copies; 0 for other types.
std::uint64_t bits_of_one(scalar_type type);
std::uint64_t sign_bit(scalar_type type);

// A comparison of a sum with zero that ptxas replaces by a comparison of the sum's operands. It
// holds for a + b where it holds for a and -b, even if these are infinite.
bool compares_with_zero(const instruction& i);

}  // namespace stepwise::emulator::fusible
