// Tests which registers count as read.
#include <doctest/doctest.h>

#include "common/ptx/traits.hpp"

using namespace stepwise;

namespace {

TEST_CASE(
    "results are not read, but operands, addresses, guards, and instructions without a result "
    "are") {
  const ptx::module m(
      ".version 9.0\n.target sm_90\n.address_size 64\n.entry k() {\n.reg .pred %p<3>;\n"
      ".reg .b32 %r<12>;\n.reg .b64 %rd<4>;\n"
      "@%p1 atom.global.add.u32 %r1, [%rd1+4], %r2;\nred.global.add.u32 [%rd2], %r3;\n"
      "mov.b64 %rd3, {%r4, %r5};\nmov.b64 {%r6, %r7}, %rd3;\nbar.sync %r8, 64;\n"
      "barrier.sync %r9, %r10;\nsetp.eq.u32 %p2, %r6, 0;\nret;\n}\n");
  const auto read = ptx::names_read(m.body_of(m.functions.at(0)));
  for (const char* const name :
       {"%p1", "%rd1", "%r2", "%rd2", "%r3", "%r4", "%r5", "%rd3", "%r8", "%r9", "%r10", "%r6"})
    CHECK_MESSAGE(read.contains(name), name);
  for (const char* const name : {"%r1", "%r7", "%p2", "%r11"})
    CHECK_MESSAGE(!read.contains(name), name);
}

}  // namespace
