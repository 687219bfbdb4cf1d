// Tests which registers may be read before they are written.
#include "common/ptx/unset_registers.hpp"

#include <doctest/doctest.h>

#include <string>

namespace stepwise::emulator {
namespace {

// The registers among r0 to r9 that may be unset.
std::vector<std::string> unset_in(const std::string& text) {
  const ptx::module module(
      ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .pred p;\n"
      ".reg .b32 r<10>;\n.reg .b64 d<4>;\nsetp.eq.u32 p, 1, 2;\n" +
      text + "}\n");
  const auto& body = module.body_of(module.functions.at(0));
  std::vector<std::string> found;
  for (const std::string_view name : names_read_before_written(body, control_flow(body)))
    if (name[0] == 'r') found.emplace_back(name);
  return found;
}

using list = std::vector<std::string>;

TEST_CASE("a register is unset if it is read on a path without a write") {
  CHECK(unset_in("add.u32 r0, r1, 1;\n ret;\n") == list{"r1"});
  CHECK(unset_in("mov.u32 r1, 1;\n add.u32 r0, r1, 1;\n ret;\n").empty());
  CHECK(unset_in("@p bra B;\n mov.u32 r1, 1;\nB: add.u32 r0, r1, 1;\n ret;\n") == list{"r1"});
  CHECK(unset_in("@p bra B;\n mov.u32 r1, 1;\n bra C;\nB: mov.u32 r1, 2;\nC: add.u32 r0, r1, 1;\n"
                 " ret;\n")
            .empty());
}

TEST_CASE("a register that a loop updates is unset unless it has a first value") {
  CHECK(unset_in("A: add.u32 r0, r0, 1;\n @p bra A;\n ret;\n") == list{"r0"});
  CHECK(unset_in("mov.u32 r0, 0;\nA: add.u32 r0, r0, 1;\n @p bra A;\n ret;\n").empty());
}

TEST_CASE("a write with a guard may not happen") {
  CHECK(unset_in("@p mov.u32 r1, 1;\n @p add.u32 r0, r1, 1;\n ret;\n") == list{"r1"});
}

TEST_CASE("addresses, guards and vectors are read, and an only operand is a result") {
  CHECK(unset_in("st.global.u32 [d0], r1;\n mov.b64 d1, {r2, r3};\n mov.b64 {r4, r5}, d1;\n"
                 " add.u32 r6, r4, r5;\n activemask.b32 r7;\n bar.red.popc.u32 r9, 0, p;\n"
                 " add.u32 r8, r7, r9;\n ret;\n") == list{"r1", "r2", "r3"});
}

TEST_CASE("unreachable code reads nothing") {
  CHECK(unset_in("ret;\nA: add.u32 r0, r1, 1;\n bra A;\n").empty());
}

}  // namespace
}  // namespace stepwise::emulator
