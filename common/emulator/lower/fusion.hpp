// Finds the multiplications that ptxas fuses into the additions that use them.
//
// idea    PTX lets an assembler contract a `mul` and an `add` or `sub` without a rounding modifier
//         into one fma, which rounds once. ptxas 13.0 does so by a rule that its line tables show:
//         the line of a fused mul has no machine instruction. A mul is fused into all sums that use
//         it, and then disappears, or into none.
//         1. A candidate is used only by sums of its type without a rounding modifier, with .ftz on
//            both or on neither, after it in its block. If a factor is constant (a literal, a
//            kernel's parameter), the sums may be in any block. Copies and negations of a product
//            count as the product. An approximate division is also a product, of the dividend and
//            a reciprocal, both scaled first unless it is div.approx.ftz.
//         2. If a sum has two products, one is fused and the other is added, so the other is no
//            longer a candidate. In a first pass, sums with a candidate of a single use take it,
//            preferably the first operand. In a second pass, the other sums, in order, take the
//            candidate with fewer uses, or the first of two with equally many. Sums of halves have
//            only the second pass.
//         3. Between the passes, a comparison of an f32 sum with zero becomes a comparison of its
//            operands, whose own values are then needed.
//         Blocks are those before loops are unrolled and branches become selections. A block
//         continues in its only successor if nothing else leads there, and ends at an instruction
//         that ptxas turns into a call or a branch (`divides_block`).
// watch   Fusions after ptxas has unrolled a loop or inlined a function are not known: a product
//         that is added in the next iteration of a loop is not fused here (DESIGN.md, Limits).
// source  ptxas 13.0.88. Tested by tests/fusion_test.cpp, against ptxas by fusion_ptxas_test.cpp,
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
  unsigned addend = 1;        // the operand of the sum that is c: 1 or 2
  bool product_negated = false;
  bool addend_negated = false;
};

struct fusion {
  std::unordered_map<std::uint32_t, fused_sum> sums;  // by the sum's instruction
  // Whether the registers of a fused multiplication's factors are written again before its last sum
  // reads them.
  struct factors {
    bool overwritten[2] = {false, false};
  };
  std::unordered_map<std::uint32_t, factors> products;
  // Copies and negations of fused products. No instruction needs them.
  std::unordered_set<std::uint32_t> copies;
};

// `is_entry`: the body is a kernel's, so its parameters are constants.
fusion find_fusion(const ptx::body& body, const control_flow& flow, bool is_entry);

}  // namespace stepwise::emulator
