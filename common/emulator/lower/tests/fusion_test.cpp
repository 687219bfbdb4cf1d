// Which products are fused into sums, by all rules that ptxas's line tables show.
#include "common/emulator/lower/fusion.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace stepwise::emulator {
namespace {

struct found_fusion {
  fusion what;
  std::string products;  // registers of the fused products, in program order: "x y"
};

// `text` has statements over the f32 numbers a to d, the products x to z and the sums s to v.
found_fusion fuse(const std::string& text, const std::string& type = "f32") {
  const std::string bits = type == "f64" ? ".f64" : type.ends_with("x2") ? ".b32" : ".f32";
  std::string body;
  for (std::size_t n = 0; n < text.size(); ++n) {
    const bool here = text.compare(n, 2, ".T") == 0;
    body += here ? "." + type : text.substr(n, 1);
    n += here;
  }
  const ptx::module module(
      ".version 9.0\n.target sm_90\n.address_size 64\n.entry k(.param .f32 arg)\n{\n.reg .pred p, "
      "q;\n.reg .b32 i, j;\n.reg .b64 to;\n.reg " +
      bits + " a, b, c, d, e, x, y, z, s, t, u, v;\n" + body + "ret;\n}\n");
  const auto& parsed = module.body_of(module.functions.at(0));
  found_fusion found{find_fusion(parsed, control_flow(parsed), true), ""};
  for (std::uint32_t n = 0; n < parsed.instructions.size(); ++n)
    if (found.what.products.contains(n))
      found.products += (found.products.empty() ? "" : " ") +
                        std::string(parsed.instructions[n].operands[0].name);
  return found;
}

std::string fused(const std::string& text, const std::string& type = "f32") {
  return fuse(text, type).products;
}

const std::string keep_s = "st.global.T [to], s;\n";
const std::string keep_t = "st.global.T [to+16], t;\n";
const std::string keep_u = "st.global.T [to+32], u;\n";
const std::string keep_x = "st.global.T [to+48], x;\n";

TEST_CASE("a product is fused into the sum that uses it if neither names a rounding mode") {
  CHECK(fused("mul.T x, a, b;\nadd.T s, x, c;\n" + keep_s) == "x");
  CHECK(fused("mul.T x, a, b;\nsub.T s, c, x;\n" + keep_s) == "x");
  CHECK(fused("mul.rn.T x, a, b;\nadd.T s, x, c;\n" + keep_s) == "");
  CHECK(fused("mul.T x, a, b;\nadd.rn.T s, x, c;\n" + keep_s) == "");
  CHECK(fused("mul.T x, a, b;\nadd.rz.T s, x, c;\n" + keep_s) == "");
  for (const char* type : {"f64", "f16x2", "bf16x2"})
    CHECK(fused("mul.T x, a, b;\nadd.T s, x, c;\n" + keep_s, type) == "x");
}

TEST_CASE("product and sum must both have .ftz or neither, and the sum may have .sat") {
  CHECK(fused("mul.ftz.T x, a, b;\nadd.ftz.sat.T s, x, c;\n" + keep_s) == "x");
  CHECK(fused("mul.ftz.T x, a, b;\nadd.T s, x, c;\n" + keep_s) == "");
  CHECK(fused("mul.T x, a, b;\nadd.ftz.T s, x, c;\n" + keep_s) == "");
  CHECK(fused("mul.sat.T x, a, b;\nadd.T s, x, c;\n" + keep_s) == "");
}

TEST_CASE("an approximate quotient is a product of the dividend and a reciprocal") {
  const std::string sum = "add.ftz.T s, x, c;\n" + keep_s;
  CHECK(fused("div.approx.ftz.T x, a, b;\n" + sum) == "x");
  CHECK(fused("div.full.ftz.T x, a, b;\n" + sum) == "x");
  CHECK(fused("div.approx.T x, a, b;\nadd.T s, c, x;\n" + keep_s) == "x");
  CHECK(fused("div.approx.T x, a, b;\n" + sum) == "");
  CHECK(fused("div.rn.ftz.T x, a, b;\n" + sum) == "");
  CHECK(fused("div.approx.ftz.T x, a, b;\n" + sum + keep_x) == "");
  // A division of 1 or -1 is the reciprocal itself, unless the reciprocal is scaled.
  CHECK(fused("div.approx.ftz.T x, 0f3f800000, b;\n" + sum) == "");
  CHECK(fused("div.approx.ftz.T x, 0fbf800000, b;\n" + sum) == "");
  CHECK(fused("div.full.ftz.T x, 0fbf800000, b;\n" + sum) == "x");
  // Fused into a sum in another block only with a constant factor.
  const std::string elsewhere = "@p bra END;\nadd.ftz.T s, x, c;\n" + keep_s + "END:\n";
  CHECK(fused("div.approx.ftz.T x, a, b;\n" + elsewhere) == "");
  CHECK(fused("div.approx.ftz.T x, 0f40400000, b;\n" + elsewhere) == "x");
  CHECK(fused("div.approx.ftz.T x, a, b;\nmul.ftz.T y, c, d;\nsub.ftz.T s, y, x;\n" + keep_s) ==
        "y");
}

TEST_CASE("a product is fused into all sums that use it, or into none") {
  const std::string sums = "mul.T x, a, b;\nadd.T s, x, c;\nsub.T t, d, x;\n" + keep_s + keep_t;
  CHECK(fuse(sums).what.sums.size() == 2);
  CHECK(fused(sums) == "x");
  CHECK(fused(sums + keep_x) == "");
  CHECK(fused("mul.T x, a, b;\nadd.T s, x, x;\n" + keep_s) == "");
  CHECK(fused(sums + "abs.T u, x;\n") == "x");  // nothing uses u, so this use of x does not count
  CHECK(fused(sums + "abs.T u, x;\n" + keep_u) == "");
}

TEST_CASE("the first of two products in a sum is fused, or the one with fewer uses") {
  const std::string two = "mul.T x, a, b;\nmul.T y, c, d;\n";
  CHECK(fused(two + "sub.T s, x, y;\n" + keep_s) == "x");
  CHECK(fused(two + "sub.T s, y, x;\n" + keep_s) == "y");
  CHECK(fused(two + "add.T s, x, y;\n" + keep_s + keep_x) == "y");
  CHECK(fused(two + "add.T s, x, y;\nadd.T t, x, a;\n" + keep_s + keep_t) == "y");
  CHECK(fused(two + "add.T s, x, y;\nsub.T t, x, y;\n" + keep_s + keep_t) == "x");
  const auto found = fuse(two + "sub.T s, x, y;\nsub.T t, a, x;\n" + keep_s + keep_t);
  CHECK(found.products == "y");  // x has two uses
  CHECK(found.what.sums.at(2).product_negated);
  CHECK(found.what.sums.at(2).addend == 1);
}

TEST_CASE("a product that is added in one sum is not fused into another") {
  const std::string three = "mul.T x, a, b;\nmul.T y, c, d;\nmul.T z, a, d;\n";
  const std::string keep = keep_s + keep_t + keep_u;
  // No product has a single use. For s, x is fused and y is lost. For t, y is lost. For u, z is
  // fused and x is lost.
  CHECK(fused(three + "add.T s, x, y;\nadd.T t, y, z;\nadd.T u, z, x;\n" + keep) == "z");
  // A product with a single use goes first, wherever its sum is. Halves are handled in a single
  // pass.
  const std::string late =
      "mul.T x, a, b;\nmul.T y, c, d;\nmul.T z, a, d;\nsub.T s, x, y;\n"
      "sub.T t, z, x;\nadd.T u, y, b;\n" +
      keep;
  CHECK(fused(late) == "y z");
  CHECK(fused(late, "f16x2") == "z");
}

TEST_CASE("copies and negations count as the product") {
  const auto found = fuse("mul.T x, a, b;\nneg.T y, x;\nmov.f32 z, y;\nsub.T s, z, c;\n" + keep_s);
  REQUIRE(found.products == "x");
  CHECK(found.what.copies.size() == 2);
  CHECK(found.what.sums.at(3).product_negated);
  CHECK(found.what.sums.at(3).addend_negated);
  CHECK(fused("mul.T x, a, b;\nneg.T y, x;\nadd.T s, y, c;\nst.global.T [to], y;\n" + keep_s) ==
        "");
  CHECK(fused("mul.T x, a, b;\nmul.T y, x, 0fBF800000;\nadd.T s, y, c;\n" + keep_s) == "x");
  CHECK(fused("mul.T x, a, 0f3F800000;\nmul.T y, c, d;\nadd.T s, x, y;\n" + keep_s) == "y");
  CHECK(fused("mov.f32 e, 0f40A00000;\nmul.T x, e, 0f3F8CCCCD;\nadd.T s, x, c;\n" + keep_s) == "");
  CHECK(fused("mul.T x, a, b;\nabs.T y, x;\nadd.T s, y, c;\n" + keep_s) == "");
  CHECK(fused("mul.T x, a, b;\nselp.T y, x, c, p;\nadd.T s, y, c;\n" + keep_s) == "");
}

TEST_CASE("a guarded sum is fused, but a guarded product is not") {
  CHECK(fused("mul.T x, a, b;\n@p add.T s, x, c;\n" + keep_s) == "x");
  CHECK(fused("@p mul.T x, a, b;\nadd.T s, x, c;\n" + keep_s) == "");
  CHECK(fused("mul.T x, a, b;\n@p mov.f32 x, d;\nadd.T s, x, c;\n" + keep_s) == "");
  CHECK(fused("mul.T x, a, b;\n@p add.T x, x, c;\n" + keep_x) == "");
}

TEST_CASE("a product is fused only within its own block") {
  const std::string product = "mul.T x, a, b;\n", sum = "add.T s, x, c;\n" + keep_s;
  CHECK(fused(product + "@p bra L;\n" + sum + "L:\n") == "");
  CHECK(fused(product + "@p bra L;\nst.global.T [to], a;\nL:\n" + sum) == "");
  CHECK(fused(product + "L:\n" + sum) == "x");
  CHECK(fused(product + "bra L;\nM:\n ret;\nL:\n" + sum) == "x");
  CHECK(fused(product + "@p bra L;\nL:\n" + sum) == "x");
  CHECK(fused(product + "@p exit;\n" + sum) == "");
  CHECK(fused("L:\n" + sum + product + "@p bra L;\n") == "");
  CHECK(fused("L:\nmul.T x, x, b;\nadd.T x, x, c;\n@p bra L;\n" + keep_x) == "x");
}

TEST_CASE("a product with a constant factor is fused into sums in other blocks, too") {
  const std::string sum = "@p bra L;\nadd.T s, x, c;\n" + keep_s + "L:\n";
  CHECK(fused("mul.T x, a, 0f3DCCCCCD;\n" + sum) == "x");
  CHECK(fused("mov.f32 b, 0f3DCCCCCD;\nmul.T x, b, a;\n" + sum) == "x");
  CHECK(fused("ld.param.f32 b, [arg];\nmul.T x, a, b;\n" + sum) == "x");
  CHECK(fused("ld.global.f32 b, [to];\nmul.T x, a, b;\n" + sum) == "");
  CHECK(fused("mul.T x, a, 0f3DCCCCCD;\n" + sum + keep_x) == "");
  CHECK(fused("mul.T x, a, 0f3DCCCCCD;\n@p bra L;\nmov.f32 x, b;\nL:\nadd.T s, x, c;\n" + keep_s) ==
        "");
}

TEST_CASE("an instruction that ptxas turns into a branch or a call ends the block") {
  const auto between = [](const std::string& what) {
    return fused("mul.T x, a, b;\n" + what + ";\nadd.T s, x, c;\n" + keep_s);
  };
  for (const char* what :
       {"div.rn.f32 d, a, b", "div.s32 i, i, 7", "rem.s32 i, i, j", "sqrt.rn.f32 d, a",
        "rcp.rn.f32 d, a", "membar.cta", "fence.acq_rel.gpu", "@p st.global.f32 [to], a",
        "@p bar.sync 0", "@p ld.global.f32 d, [to]", "@p trap"})
    CHECK_MESSAGE(between(what) == "", what);
  for (const char* what :
       {"div.full.f32 d, a, b", "div.approx.f32 d, a, b", "div.u32 i, i, j", "rem.u32 i, i, j",
        "sqrt.approx.f32 d, a", "bar.sync 0", "st.global.f32 [to], a",
        "ld.volatile.global.f32 d, [to]", "shfl.sync.bfly.b32 i, j, 1, 31, -1", "@p mov.f32 d, a",
        "fence.proxy.alias", "atom.global.add.f32 d, [to], a"})
    CHECK_MESSAGE(between(what) == "x", what);
}

TEST_CASE("factors that are overwritten before the sum are reported") {
  const auto kept = fuse("mul.T x, a, b;\nmov.f32 a, c;\nadd.T s, x, a;\n" + keep_s);
  REQUIRE(kept.products == "x");
  CHECK(kept.what.products.at(0).overwritten[0]);
  CHECK(!kept.what.products.at(0).overwritten[1]);
}

TEST_CASE("a comparison of a sum with zero compares its operands, and neither is fused") {
  const std::string sum = "mul.T x, a, b;\nsub.T s, c, x;\n", keep = "@p st.global.T [to], a;\n";
  const std::string other = "add.T t, x, d;\n" + keep_t;
  CHECK(fused(sum + "setp.gt.T p, s, 0f00000000;\n" + keep) == "x");  // fused before this applies
  CHECK(fused(sum + other + "setp.gt.T p, s, 0f00000000;\n" + keep) == "");
  CHECK(fused(sum + other + "setp.leu.T p, 0f80000000, s;\n" + keep) == "");
  CHECK(fused(sum + other + "setp.ge.T p, s, 0f00000000;\n" + keep) == "x");
  CHECK(fused(sum + other + "setp.gt.T p, s, 0f3F800000;\n" + keep) == "x");
  CHECK(fused(sum + other + "setp.gt.and.T p, s, 0f00000000, q;\n" + keep) == "x");
  CHECK(fused(sum + other + "setp.gt.T p, s, 0d0000000000000000;\n" + keep, "f64") == "x");
}

TEST_CASE("the time for a large body is bounded by its size") {
  std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .pred p;\n"
      ".reg .b64 to;\n.reg .f32 x, y, b;\n";
  constexpr int blocks = 20000;
  for (int n = 0; n < blocks; ++n)
    text += "L" + std::to_string(n) + ":\nmul.f32 x, x, b;\nadd.f32 y, x, y;\n@p bra L" +
            std::to_string(n * 7919 % blocks) + ";\n";
  const ptx::module module(text + "st.global.f32 [to], y;\n}\n");
  const auto& body = module.body_of(module.functions.at(0));
  const control_flow flow(body);
  const auto start = std::chrono::steady_clock::now();
  CHECK(find_fusion(body, flow, true).sums.empty());
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

}  // namespace
}  // namespace stepwise::emulator
