// Tests which branches decide whether lanes reach a block.
#include "common/ptx/dependence.hpp"

#include <doctest/doctest.h>

#include <string>

namespace stepwise::emulator {
namespace {

using list = std::vector<std::uint32_t>;

// The deciding successors towards the blocks that have a bar.
std::vector<list> towards_barriers(const std::string& text) {
  const ptx::module module(
      ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .pred p, q;\n"
      ".reg .b32 r<9>;\n" +
      text + "}\n");
  const auto& body = module.body_of(module.functions.at(0));
  const control_flow flow(body);
  list wanted;
  for (std::uint32_t n = 0; n < body.instructions.size(); ++n)
    if (body.instructions[n].opcode == "bar") wanted.push_back(flow.block_of[n]);
  return ways_towards(flow, wanted);
}

TEST_CASE("a branch around a barrier decides, and a branch next to it does not") {
  // 0, 1: the barrier, 2, 3: next to it, 4
  CHECK(towards_barriers("@p bra B;\n bar.sync 0;\nB: @q bra C;\n mov.u32 r0, 1;\nC: ret;\n") ==
        std::vector<list>{{1}, {}, {}, {}, {}});
  CHECK(towards_barriers("@p bra B;\n mov.u32 r0, 1;\nB: bar.sync 0;\n ret;\n") ==
        std::vector<list>{{}, {}, {}});
}

TEST_CASE("an early return decides about everything that follows it") {
  // 0, 1, 2: the barrier, 3: the path that leaves
  CHECK(towards_barriers("@p bra B;\n@q bra C;\n mov.u32 r0, 1;\nC: bar.sync 0;\nB: ret;\n") ==
        std::vector<list>{{1}, {}, {}, {}, {}});
}

TEST_CASE("a branch that decides about a deciding branch decides too") {
  CHECK(towards_barriers("@p bra B;\n@q bra B;\n bar.sync 0;\nB: ret;\n") ==
        std::vector<list>{{1}, {2}, {}, {}});
}

TEST_CASE("if both arms have a barrier, each arm misses the other's") {
  CHECK(towards_barriers("@p bra B;\n bar.sync 0;\n bra C;\nB: bar.sync 1;\nC: ret;\n") ==
        std::vector<list>{{1, 2}, {}, {}, {}});
}

TEST_CASE("a loop's branch leads back to the barrier inside, and a branch may skip the barrier") {
  // 0: the barrier and the loop's end, 1
  CHECK(towards_barriers("A: bar.sync 0;\n @p bra A;\n ret;\n") == std::vector<list>{{0}, {}});
  // 0: the skip, 1: the barrier, 2: the loop's end, 3
  CHECK(towards_barriers("A: @p bra B;\n bar.sync 0;\nB: @q bra A;\n ret;\n") ==
        std::vector<list>{{1}, {}, {0}, {}});
}

TEST_CASE("without a barrier no branch decides, and an endless loop does no harm") {
  CHECK(towards_barriers("@p bra B;\n mov.u32 r0, 1;\nB: ret;\n") == std::vector<list>{{}, {}, {}});
  CHECK(towards_barriers("@p bra B;\nA: bar.sync 0;\n bra A;\nB: ret;\n")[0] == list{1});
}

}  // namespace
}  // namespace stepwise::emulator
