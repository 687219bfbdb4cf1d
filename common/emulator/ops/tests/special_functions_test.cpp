// The special function unit's results, compared with those of an H100.
#include "common/emulator/ops/special_functions.hpp"

#include <doctest/doctest.h>

#include <string>

#include "common/emulator/ops/narrow.hpp"
#include "common/emulator/ops/tests/special_functions_recorded.hpp"

using namespace stepwise::emulator;

namespace {

u32 mixed(u32 h) {
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}
u32 term(u32 operand, u32 result) { return mixed(result + operand * 0x9e3779b9u); }

const recorded::form& form_of(const std::string& name) {
  for (const recorded::form& f : recorded::forms)
    if (f.name == name) return f;
  FAIL("no recorded form " << name);
  return recorded::forms[0];
}

template <class Operation, bool Ftz>
void matches(const std::string& name) {
  CAPTURE(name);
  const recorded::form& expected = form_of(name);
  u32 sum_of_operands = 0;
  for (const u32 half : recorded::operands) {
    const f32 result = approximated<Operation, Ftz>(std::bit_cast<f32>(half << 16));
    sum_of_operands += term(half << 16, std::bit_cast<u32>(result));
  }
  CHECK(sum_of_operands == expected.sum_of_operands);
  for (int r = 0; r < recorded::range_count; ++r) {
    const u32 first = u32{recorded::ranges[r]} << 16;
    CAPTURE(first);
    u32 sum = 0;
    for (u32 i = first; i < first + 65536; i += lanes) {
      f32 operands[lanes], results[lanes];
      for (u32 l = 0; l < lanes; ++l) operands[l] = std::bit_cast<f32>(i + l);
      approximated<Operation, Ftz>(operands, results);
      for (u32 l = 0; l < lanes; ++l) sum += term(i + l, std::bit_cast<u32>(results[l]));
    }
    CHECK(sum == expected.sums[r]);
  }
}

template <bool Ftz, bool Full>
void quotients_match(const std::string& name) {
  for (const recorded::quotients& expected : recorded::quotient_forms) {
    if (expected.name != name) continue;
    for (const bool near : {false, true}) {
      CAPTURE(name);
      CAPTURE(near);
      const auto operand = [near](u32 i) {
        const u32 v = mixed(i + 777);
        return std::bit_cast<f32>(near ? (v & 0x87ffffffu) + (119u << 23) : v);
      };
      u32 sum = 0;
      for (u32 i = 0; i < 131072; i += lanes) {
        f32 a[lanes], b[lanes], results[lanes];
        for (u32 l = 0; l < lanes; ++l) {
          a[l] = operand(2 * (i + l));
          b[l] = operand(2 * (i + l) + 1);
        }
        quotient<Ftz, Full>::compute(a, b, results);
        for (u32 l = 0; l < lanes; ++l) sum += term(i + l, std::bit_cast<u32>(results[l]));
      }
      CHECK(sum == (near ? expected.near : expected.all));
    }
    return;
  }
  FAIL("no recorded quotients " << name);
}

template <class F>
u32 sum_of_halves(F result) {
  u32 sum = 0;
  for (u32 i = 0; i < 65536; ++i) sum += term(i, result(i));
  return sum;
}

template <class Operation>
u32 sum_of_upper_words(u32 first, u32 step, u32 count) {
  u32 sum = 0;
  for (u32 i = 0; i < count; i += lanes) {
    u32 operands[lanes], results[lanes];
    for (u32 l = 0; l < lanes; ++l) operands[l] = first + (i + l) * step;
    unit::compute<Operation>(operands, results);
    for (u32 l = 0; l < lanes; ++l) sum += term(operands[l], results[l]);
    if (results[0] != unit::compute<Operation>(operands[0])) return 0;
  }
  return sum;
}

}  // namespace

TEST_CASE("approximate float instructions give the same bits as an H100") {
  matches<unit::reciprocal, false>("rcp");
  matches<unit::reciprocal, true>("rcp.ftz");
  matches<unit::reciprocal_root, false>("rsqrt");
  matches<unit::reciprocal_root, true>("rsqrt.ftz");
  matches<unit::root, false>("sqrt");
  matches<unit::root, true>("sqrt.ftz");
  matches<unit::exp2, false>("ex2");
  matches<unit::exp2, true>("ex2.ftz");
  matches<unit::log2, false>("lg2");
  matches<unit::log2, true>("lg2.ftz");
  matches<unit::sine, false>("sin");
  matches<unit::sine, true>("sin.ftz");
  matches<unit::cosine, false>("cos");
  matches<unit::cosine, true>("cos.ftz");
  matches<unit::hyperbolic_tangent, false>("tanh");
}

TEST_CASE("approximate quotients are products with the unit's reciprocal") {
  quotients_match<false, false>("div");
  quotients_match<true, false>("div.ftz");
  quotients_match<false, true>("div.full");
  quotients_match<true, true>("div.full.ftz");
}

TEST_CASE("16-bit ex2 and tanh are the truncated float results") {
  using tanh = unit::hyperbolic_tangent;
  CHECK(sum_of_halves([](u32 i) {
          return truncated_f16::of(approximated<unit::exp2, false>(single_of_f16(i)));
        }) == recorded::ex2_f16);
  CHECK(sum_of_halves([](u32 i) {
          return truncated_f16::of(approximated<tanh, false>(single_of_f16(i)));
        }) == recorded::tanh_f16);
  CHECK(sum_of_halves([](u32 i) {
          return truncated_bf16::of(approximated<unit::exp2, true>(single_of_bf16(i)));
        }) == recorded::ex2_bf16);
  CHECK(sum_of_halves([](u32 i) {
          return truncated_bf16::of(approximated<tanh, false>(single_of_bf16(i)));
        }) == recorded::tanh_bf16);
}

TEST_CASE("approximate instructions on the upper words of doubles") {
  using reciprocal = unit::upper_reciprocal;
  using root = unit::upper_reciprocal_root;
  CHECK(sum_of_upper_words<reciprocal>(0, 65536, 65536) == recorded::rcp_f64_sparse);
  CHECK(sum_of_upper_words<reciprocal>(0x3ff00000u, 1, 1u << 20) == recorded::rcp_f64_dense);
  CHECK(sum_of_upper_words<root>(0, 65536, 65536) == recorded::rsqrt_f64_sparse);
  CHECK(sum_of_upper_words<root>(0x3ff00000u, 1, 1u << 21) == recorded::rsqrt_f64_dense);
}
