// Tests the blocks, dominators and loops of PTX that is written for these tests.
#include "common/ptx/control_flow.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace stepwise::emulator {
namespace {

// The control flow of a kernel with this body. p is a predicate.
struct test_kernel {
  explicit test_kernel(const std::string& text)
      : module(
            ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .pred p;\n"
            ".reg .b32 r<9>;\n" +
            text + "}\n"),
        flow(module.body_of(module.functions.at(0))) {}
  ptx::module module;
  control_flow flow;
};

TEST_CASE("the two paths of a diamond meet") {
  const test_kernel k("@p bra B;\n mov.u32 r0, 1;\n bra C;\nB: mov.u32 r0, 2;\nC: ret;\n");
  const auto& b = k.flow.blocks;
  REQUIRE(b.size() == 4);
  CHECK(b[0].successors == std::vector<std::uint32_t>{1, 2});
  CHECK(b[1].successors == std::vector<std::uint32_t>{3});
  CHECK(b[2].successors == std::vector<std::uint32_t>{3});
  CHECK(b[0].dominator == 0xffffffffu);
  CHECK(b[1].dominator == 0);
  CHECK(b[3].dominator == 0);
  CHECK(k.flow.dominates(0, 3));
  CHECK(k.flow.dominates(1, 1));
  CHECK_FALSE(k.flow.dominates(1, 3));
  CHECK(k.flow.loops.empty());
}

TEST_CASE("a body may begin with the header of its loop") {
  const test_kernel k("A: add.u32 r0, r0, 1;\n @p bra A;\n ret;\n");
  REQUIRE(k.flow.blocks.size() == 2);
  REQUIRE(k.flow.loops.size() == 1);
  CHECK(k.flow.loops[0].header == 0);
  CHECK(k.flow.loops[0].blocks == std::vector<std::uint32_t>{0});
  CHECK(k.flow.blocks[1].dominator == 0);
  CHECK(k.flow.blocks[0].loop == 0);
  CHECK(k.flow.blocks[1].loop == 0xffffffffu);
}

TEST_CASE("two back edges to one header are one loop, and loops can be nested") {
  const test_kernel k(
      "A: add.u32 r0, r0, 1;\n"
      "B: add.u32 r1, r1, 1;\n @p bra B;\n"  // inner
      " @p bra A;\n"                         // outer, first back edge
      " add.u32 r2, r2, 1;\n @p bra A;\n"    // outer, second back edge
      " ret;\n");
  REQUIRE(k.flow.loops.size() == 2);
  CHECK(k.flow.loops[0].header == 0);
  CHECK(k.flow.loops[0].blocks.size() == 4);
  CHECK_FALSE(k.flow.loops[0].is_innermost);
  CHECK(k.flow.loops[1].parent == 0);
  CHECK(k.flow.loops[1].blocks == std::vector<std::uint32_t>{1});
  CHECK(k.flow.loops[1].is_innermost);
}

TEST_CASE("a cycle with two entries is not a natural loop, and unreachable code is in no loop") {
  const test_kernel k(
      "@p bra B;\nA: add.u32 r0, r0, 1;\nB: add.u32 r0, r0, 2;\n @p bra A;\n ret;\n"
      "C: add.u32 r0, r0, 3;\n bra C;\n");
  CHECK(k.flow.loops.empty());
  const auto& last = k.flow.blocks.back();
  CHECK(last.dominator == 0xffffffffu);
  CHECK(last.loop == 0xffffffffu);
}

TEST_CASE("loops that are nested deeper than any compiler nests them take little time and memory") {
  const auto nested = [](int depth) {
    std::string text;
    for (int n = 0; n < depth; ++n) text += "L" + std::to_string(n) + ": add.u32 r0, r0, 1;\n";
    for (int n = depth; n-- > 0;) text += "@p bra L" + std::to_string(n) + ";\n";
    return text;
  };
  CHECK(test_kernel(nested(60)).flow.loops.size() == 60);
  const auto start = std::chrono::steady_clock::now();
  const test_kernel deep(nested(30000));
  CHECK(deep.flow.loops.empty());
  CHECK(deep.flow.dominates(0, 59998));
  CHECK(deep.flow.dominates(29999, 59998));
  CHECK_FALSE(deep.flow.dominates(59998, 29999));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

}  // namespace
}  // namespace stepwise::emulator
