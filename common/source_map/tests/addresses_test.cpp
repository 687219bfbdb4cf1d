// Tests the roots, offsets and alignments of addresses in PTX that is written for these tests.
#include "common/source_map/addresses.hpp"

#include <doctest/doctest.h>

#include <string>

namespace stepwise::emulator {
namespace {

struct test_kernel {
  explicit test_kernel(const std::string& text)
      : module(
            ".version 9.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 q)\n{\n"
            ".reg .pred p;\n.reg .b32 r<20>;\n.reg .b64 d<20>;\n"
            ".shared .align 4 .b8 s[4096];\n" +
            text + "}\n"),
        body(module.body_of(module.functions.at(0))),
        table(module, body) {}

  // The address of the n-th load.
  symbolic_address load(int number) const {
    for (std::uint32_t n = 0; n < body.instructions.size(); ++n) {
      if (body.instructions[n].opcode != "ld" || number-- > 0) continue;
      return table.resolve(body.instructions[n].operands[1], n);
    }
    FAIL("there is no such load");
    return {};
  }

  ptx::module module;
  const ptx::body& body;
  address_table table;
};

TEST_CASE("constants are followed back to the root") {
  const test_kernel k(
      "mov.u32 r1, s;\n mov.u32 r2, %tid.x;\n shl.b32 r3, r2, 4;\n add.s32 r4, r1, r3;\n"
      "add.s32 r5, r4, -32;\n mov.u32 r6, r5;\n"
      "ld.shared.u32 r10, [r4+4];\n ld.shared.u32 r11, [r6+8];\n ld.shared.u32 r12, [s+12];\n"
      "ld.shared.u32 r13, [r1];\n");
  CHECK(k.load(0).root == "r4");
  CHECK(k.load(0).offset == 4);
  CHECK(k.load(1).same_root(k.load(0)));
  CHECK(k.load(1).offset == -24);
  CHECK(k.load(2).root == "s");
  CHECK(k.load(2).offset == 12);
  CHECK(k.load(3).same_root(k.load(2)));
  CHECK(k.table.alignment_of(k.load(0)) == alignment{16, 0});
  CHECK(k.table.alignment_of(k.load(2)) == alignment{16, 0});
}

TEST_CASE("a register that changes becomes another root") {
  const test_kernel k(
      "mov.u32 r1, s;\n"
      "A: ld.shared.u32 r10, [r1];\n ld.shared.u32 r11, [r1+4];\n add.s32 r1, r1, 8;\n"
      "ld.shared.u32 r12, [r1];\n @p bra A;\n");
  CHECK(k.load(0).same_root(k.load(1)));
  CHECK_FALSE(k.load(0).same_root(k.load(2)));
  CHECK(k.table.alignment_of(k.load(0)) == alignment{8, 0});  // r1 begins at 0 and grows by 8
}

TEST_CASE("a guarded definition hides the earlier value") {
  const test_kernel k(
      "mov.u32 r1, s;\n ld.shared.u32 r10, [r1];\n @p add.s32 r1, r1, 4;\n"
      "ld.shared.u32 r11, [r1];\n @p add.s32 r2, r1, 4;\n ld.shared.u32 r12, [r2];\n");
  CHECK_FALSE(k.load(0).same_root(k.load(1)));
  CHECK(k.load(2).root == "r2");
}

TEST_CASE("arithmetic carries alignments") {
  const auto aligned = [](const std::string& text) {
    const test_kernel k("mov.u32 r1, %tid.x;\n" + text + "ld.shared.u32 r10, [r9];\n");
    return k.table.alignment_of(k.load(0));
  };
  CHECK(aligned("mov.u32 r9, r1;\n") == alignment{1, 0});
  CHECK(aligned("shl.b32 r9, r1, 3;\n") == alignment{8, 0});
  CHECK(aligned("shl.b32 r2, r1, 3;\n or.b32 r9, r2, 4;\n") == alignment{8, 4});
  CHECK(aligned("mul.lo.s32 r9, r1, 24;\n") == alignment{8, 0});
  CHECK(aligned("mad.lo.s32 r9, r1, 48, 4;\n") == alignment{16, 4});
  CHECK(aligned("and.b32 r9, r1, -16;\n") == alignment{16, 0});
  CHECK(aligned("and.b32 r9, r1, 12;\n") == alignment{4, 0});
  CHECK(aligned("shl.b32 r2, r1, 4;\n sub.s32 r9, r2, 4;\n add.s32 r9, r9, 12;\n") ==
        alignment{4, 0});
  CHECK(aligned("shl.b32 r2, r1, 4;\n selp.b32 r9, r2, 8, p;\n") == alignment{8, 0});
  CHECK(aligned("shl.b32 r2, r1, 4;\n xor.b32 r9, r2, 24;\n") == alignment{16, 8});
  CHECK(aligned("shl.b32 r2, r1, 4;\n shl.b32 r3, r1, 3;\n or.b32 r4, r3, 4;\n"
                "or.b32 r9, r2, r4;\n") == alignment{8, 4});
  CHECK(aligned("cvt.rzi.s32.f32 r9, 0f3F800000;\n") == alignment{1, 0});
}

TEST_CASE("a parameter has an unknown alignment, and the table knows which registers are read") {
  const test_kernel k(
      "ld.param.u64 d1, [q];\n ld.global.u32 r1, [d1+4];\n ld.global.u32 r2, [d1];\n"
      "st.global.u32 [d1], r1;\n");
  CHECK(k.table.alignment_of(k.load(1)) == alignment{1, 0});
  CHECK(k.table.is_read("r1"));
  CHECK(k.table.is_read("d1"));
  CHECK_FALSE(k.table.is_read("r2"));
}

}  // namespace
}  // namespace stepwise::emulator
