// What an instruction is to ptxas when it fuses products into sums: see fusion.hpp.
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
// Whether operand 0 is nothing but the result. Of others each operand counts as read and written.
bool gives_result(const instruction& i);
// Whether ptxas has a branch or a call where the PTX has this: what it makes of a division, of a
// fence, of an instruction with a guard whose effect is more than a result.
bool divides_block(const instruction& i);

// A product or a sum that may become half of an fma: without a rounding modifier. A quotient that
// is approximate is a product, of the dividend and a reciprocal.
bool is_quotient(const instruction& i);
bool is_product(const instruction& i);
bool is_sum(const instruction& i);

// The bits of 1 in a type whose products with it ptxas knows to be copies; 0 for the others.
std::uint64_t bits_of_one(scalar_type type);
std::uint64_t sign_bit(scalar_type type);

// A comparison with zero that, put to a sum, ptxas puts to the sum's operands: true of a + b where
// it is true of a and -b, infinite ones too.
bool compares_with_zero(const instruction& i);

}  // namespace stepwise::emulator::fusible
