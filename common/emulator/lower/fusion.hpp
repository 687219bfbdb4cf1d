// Which multiplications ptxas fuses into the additions that use them.
//
// idea    PTX lets an assembler contract a `mul` and an `add` or `sub` without a rounding modifier
//         into one fma, which rounds once. ptxas 13.0 does so by a rule that its line tables show:
//         the line of a fused mul has no machine instruction. A mul is fused into all sums that use
//         it, and then is gone, or into none.
//         1. A candidate has only such uses: unsuffixed sums of its type, .ftz on both or on none,
//            after it in its block; if a factor is constant (a literal, a kernel's parameter),
//            in any block. Copies and negations of a product count as the product. An
//            approximate division is a product, too: of the dividend and a reciprocal, both
//            scaled first unless it is div.approx.ftz.
//         2. Of a sum's two products one is fused and the other one is added, so that the other is
//            no candidate any more. In a first pass sums with a candidate of a single use take it,
//            the first operand rather than the second. In a second pass the rest, in order, take
//            the candidate with fewer uses, the first if they have equally many. For halves there
//            is the second pass alone.
//         3. Between the passes a comparison of an f32 sum with zero becomes one of its operands,
//            which then are needed as numbers.
//         Blocks are those before loops are unrolled and branches become selections: a block goes
//         on in the only block it leads to if nothing else leads there, and what ptxas makes a call
//         or a branch of ends it (`divides_block`).
// watch   What only shows after ptxas has unrolled a loop, or inlined a function, is not known: a
//         product that is added in the next pass of a loop is not fused here. DESIGN.md has more.
// source  ptxas 13.0.88. Tested by tests/fusion_test.cpp, against ptxas by tests/fusion_ptxas.cpp,
//         and by ../tests/opcodes/fusion.ptx.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "common/ptx/ast.hpp"
#include "common/ptx/control_flow.hpp"

namespace stepwise::emulator {

// A sum that becomes (-)(a * b) + (-)c.
struct fused_sum {
  std::uint32_t product = 0;  // the multiplication: index into the body's instructions
  unsigned addend = 1;        // which operand of the sum is c: 1 or 2
  bool product_negated = false;
  bool addend_negated = false;
};

struct fusion {
  std::unordered_map<std::uint32_t, fused_sum> sums;  // by the sum's instruction
  // Of each fused multiplication, whether its factors' registers are written again before its last
  // sum reads them.
  struct factors {
    bool overwritten[2] = {false, false};
  };
  std::unordered_map<std::uint32_t, factors> products;
  // Copies and negations of fused products: nothing needs them.
  std::unordered_set<std::uint32_t> copies;
};

// `is_entry`: of a kernel, whose parameters are constants.
fusion find_fusion(const ptx::body& body, const control_flow& flow, bool is_entry);

}  // namespace stepwise::emulator
