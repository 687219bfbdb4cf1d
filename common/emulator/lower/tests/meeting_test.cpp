// Where the sides of a branch in a loop meet again.
#include "common/emulator/lower/meeting.hpp"

#include <doctest/doctest.h>

#include <string>

namespace stepwise::emulator {
namespace {

std::vector<meeting_point> points_of(const std::string& text) {
  const ptx::module module(
      ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .pred p, q;\n"
      ".reg .b32 r<9>;\n" +
      text + "}\n");
  const auto& body = module.body_of(module.functions.at(0));
  return meeting_points(control_flow(body), body);
}

constexpr std::uint32_t none = no_block;

TEST_CASE("outside loops, and in a loop with one exit, a branch meets where all its paths meet") {
  const auto diamond =
      points_of("@p bra B;\n mov.u32 r0, 1;\n bra C;\nB: mov.u32 r0, 2;\nC: ret;\n");
  CHECK(diamond[0] == meeting_point{3, none});
  // 0: the header, 1: the block that some lanes skip, 2: the latch, 3: after the loop
  const auto loop = points_of("A: @p bra B;\n mov.u32 r0, 1;\nB: @q bra A;\n ret;\n");
  CHECK(loop[0] == meeting_point{2, none});
  CHECK(loop[2] == meeting_point{3, none});
}

TEST_CASE("a branch to the next block meets there, and a block without a branch meets nowhere") {
  const auto found = points_of("mov.u32 r0, 1;\n@p bra A;\nA: mov.u32 r0, 2;\nB: ret;\n");
  CHECK(found[0] == meeting_point{1, none});
  CHECK(found[1] == meeting_point{none, none});
}

TEST_CASE("lanes meet within the iteration if the second exit is in a block that some lanes skip") {
  // 0: the header, 1: the skipped block with an exit, 2: the latch, 3: after the loop
  const auto found = points_of("A: @p bra B;\n @q bra C;\nB: @p bra A;\nC: ret;\n");
  CHECK(found[0] == meeting_point{2, 3});
  CHECK(found[1] == meeting_point{3, none});
  CHECK(found[2] == meeting_point{3, none});
}

TEST_CASE("paths that meet only in the next iteration meet at the loop's header") {
  // 0: before the loop, 1: the header, 2 and 3: one path, 4 and 5: the other, 6: after the loop
  const auto found = points_of(
      "mov.u32 r0, 0;\nA: @p bra B;\n @q bra C;\n bra A;\nB: @q bra C;\n bra A;\nC: ret;\n");
  CHECK(found[1] == meeting_point{1, 6});
  CHECK(found[2] == meeting_point{6, none});
}

TEST_CASE(
    "lanes that diverge in an inner loop meet in its iteration, despite an exit from both loops") {
  // 0: the outer header, 1: the inner header, 2: an inner block that exits both loops, 3: the inner
  // latch, 4: the outer latch, 5: after both loops
  const auto found =
      points_of("A: mov.u32 r0, 0;\nB: @p bra D;\n @q bra E;\nD: @p bra B;\n @q bra A;\nE: ret;\n");
  CHECK(found[1] == meeting_point{3, 5});
  CHECK(found[2] == meeting_point{5, none});
  CHECK(found[3].inner == 5);
}

}  // namespace
}  // namespace stepwise::emulator
