// Finds the registers that depend on special registers.
#include "common/emulator/machine/influence.hpp"

#include <doctest/doctest.h>

#include <string>

namespace stepwise::emulator {
namespace {

using names = std::unordered_set<std::string_view>;

TEST_CASE("registers depend on a special register through computations, in any order") {
  const ptx::module m(
      ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .pred p, q;\n"
      ".reg .b32 r<9>;\n.reg .b64 t<9>;\n"
      "L: add.s64 t3, t2, 1;\n"  // in the second iteration of the loop
      " mov.u64 t1, %globaltimer;\n"
      " sub.s64 t2, t1, t0;\n"
      " setp.lt.s64 p|q, t2, 1000;\n"
      " @p add.s32 r1, r0, 1;\n"  // only if p holds
      " mov.b64 {r5, r6}, t3;\n"
      " ld.global.u32 r2, [t1];\n"  // the loaded value is not a time
      " st.global.u64 [t5], t1;\n"
      " ld.global.u64 t6, [t5];\n"
      " add.s32 r3, r2, 1;\n"
      "@q bra L;\n"
      " add.s32 r4, r4, 1;\n"  // the number of iterations does not count
      " ret;\n}\n");
  const ptx::body& b = m.body_of(m.functions.at(0));
  CHECK(registers_influenced_by(b, {"%globaltimer"}) ==
        names{"t1", "t2", "t3", "p", "q", "r1", "r5", "r6"});
  CHECK(registers_influenced_by(b, {"%clock"}).empty());
}

}  // namespace
}  // namespace stepwise::emulator
