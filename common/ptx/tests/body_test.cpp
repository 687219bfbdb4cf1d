// Tests function bodies: golden/instructions.ptx, golden/functions.ptx, golden/scopes.ptx.
#include <algorithm>
#include <set>

#include "common/ptx/tests/golden.hpp"

namespace stepwise::ptx {
namespace {

// The instruction on a line of a golden file, as text.
std::string in_line(const body& b, std::uint32_t line) {
  for (const instruction& i : b.instructions) {
    if (i.line == line) return shown(i);
  }
  return "no instruction in line " + std::to_string(line);
}

// All instructions of a kernel with this body.
std::vector<std::string> all_of(const std::string& text) {
  const module m(kernel_text(text));
  std::vector<std::string> out;
  for (const instruction& i : m.body_of(m.functions[0]).instructions) out.push_back(shown(i));
  return out;
}

using lines = std::vector<std::string>;

TEST_CASE("all forms of operands are parsed") {
  const module m(golden_text("instructions"));
  const body& b = m.body_of(*m.find_function("k"));
  std::vector<std::string> got;
  for (const instruction& i : b.instructions) got.push_back(shown(i));
  const std::vector<std::string> expected = {
      "ld.param.u64 %rd1, [p]",
      "ld.param.u64 %rd7, [t]",
      "mov.u64 %rd2, __local_depot0",
      "mov.u32 %r1, %tid.x",
      "mov.u64 %rd3, data+8",
      "mov.u32 %r2, tile",
      "mov.u32 %r3, #32",
      "mov.f32 %f1, f#1065353216",
      "mov.f64 %fd1, d#4607182418800017408",
      "mov.f64 %fd2, d#-4613937818241073152",
      "mov.u32 %r4, #-2147483648",
      "mov.u32 %r4, #4294967295",
      "mov.u32 %r4, #9",
      "mov.v2.u32 v, {%r1, %r2}",
      "mov.b32 %r5, v.x",
      "ld.global.u32 %r5, [%rd1]",
      "ld.global.u32 %r5, [%rd1+16]",
      "ld.global.u32 %r5, [%rd1+-16]",
      "ld.global.u32 %r5, [data]",
      "ld.global.u32 %r5, [data+4]",
      "ld.local.u32 %r5, [+8]",
      "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]",
      "ld.global.nc.L1::no_allocate.L2::128B.v2.u32 {%r5, %r6}, [%rd1]",
      "st.global.v2.f32 [%rd1+8], {%f1, f#0}",
      "mov.b64 {%r5, _}, %rd1",
      "mov.b128 %q1, {%rd1, %rd2}",
      "setp.lt.and.s32 <%p1, %p2>, %r1, #5, !%p3",
      "setp.eq.s32 <_, %p2>, %r1, #5",
      "@%p1 bra L1",
      "@!%p1 add.s32 %r1, %r1, #1",
      "shfl.sync.bfly.b32 <%r7, %p1>, %r1, #16, #31, #-1",
      "vote.sync.ballot.b32 %r8, !%p1, #-1",
      "vmad.s32.s32.s32 %r8, %r7.b0, %r6.h1, !%r5",
      "atom.global.add.u32 %r8, [%rd1], #1",
      "atom.global.add.u32 _, [%rd1], #1",
      "red.global.add.v2.f32 [%rd1], {%f1, %f2}",
      "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd7, {%f5, %f6}]",
      "tex.3d.v4.f32.f32 <{%f1, %f2, %f3, %f4}, %p1>, [%rd7, {%f5, %f6, %f7, %f8}]",
      "tex.grad.2d.v4.f32.f32 {%f1, _, _, _}, [tex_reference, {%f5, %f6}], {%f7, %f8}, "
      "{%f9, %f10}",
      "cp.async.cg.shared.global.L2::128B [%r2+16], [%rd1], #16",
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], #16, "
      "[barrier]",
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], "
      "[%rd7, {%r1, %r3}], [barrier]",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, "
      "#1, #1, #0, #1",
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, "
      "{%f5, %f6, %f7, %f8}",
      "prmt.b32.f4e %r8, %r1, %r2, %r3",
      "mov.pred %p4, #1",
      "bar.sync #0",
      "bar.red.popc.u32 %r9, #1, #64, !%p1",
      "trap",
      "ret",
  };
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == expected[i]);
}

TEST_CASE("the opcodes, modifiers, registers and variables of a body are parsed") {
  const module m(golden_text("instructions"));
  const body& b = m.body_of(*m.find_function("k"));
  const auto found = std::find_if(b.instructions.begin(), b.instructions.end(),
                                  [](const instruction& i) { return i.modifiers.size() == 6; });
  REQUIRE(found != b.instructions.end());
  CHECK(found->opcode == "ld");
  CHECK(found->modifiers ==
        std::vector<std::string_view>{"global", "nc", "L1::no_allocate", "L2::128B", "v2", "u32"});
  CHECK(b.labels.at("L1") == 30);
  CHECK(b.labels.at("call_like_opcode_is_no_call") == 48);
  REQUIRE(b.registers.size() == 8);
  CHECK(b.registers[2].name == "%r");
  CHECK(b.registers[2].count == 20);
  CHECK(b.registers[2].type == scalar_type::b32);
  CHECK(b.registers[7].name == "v");
  CHECK(b.registers[7].count == 0);
  CHECK(b.registers[7].vector_length == 2);
  REQUIRE(b.variables.size() == 3);
  CHECK(b.variables[0].name == "tile");
  CHECK(b.variables[0].bytes == 256);
  CHECK(b.variables[2].space == state_space::local);
  CHECK(b.instructions.front().position == -1);
  CHECK(b.positions.at(b.instructions.back().position).line == 7);
}

TEST_CASE("calls, prototypes and lists of targets are parsed") {
  const module m(golden_text("functions"));
  const body& b = m.body_of(*m.find_function("calls"));
  CHECK(in_line(b, 77) == "call.uni (retval0), twice, (param0)");
  CHECK(in_line(b, 86) == "st.param.b32 [param0$2], %r2");
  CHECK(in_line(b, 91) == "call (retval0$2), %rd1, (param0$2, param1), prototype_1$2");
  CHECK(in_line(b, 94) == "call (%r4), by_register, (%r1, %fd1)");
  CHECK(in_line(b, 95) == "call no_parameters");
  CHECK(in_line(b, 96) == "@!%p1 call.uni no_parameters, ()");
  CHECK(in_line(b, 98) == "@%p1 call %rd1, never");
  CHECK(in_line(b, 101) == "brx.idx %r1, targets");
  CHECK(b.target_lists.at("targets") == std::vector<std::string_view>{"first", "second"});
  CHECK(b.target_lists.at("candidates") == std::vector<std::string_view>{"twice"});
  CHECK(b.labels.at("first") == b.labels.at("second"));
  const body::prototype& p = b.prototypes.at("prototype_1$2");
  REQUIRE(p.returns.size() == 1);
  REQUIRE(p.parameters.size() == 2);
  CHECK(p.parameters[1].bytes == 24);
  CHECK(b.prototypes.at("never").parameters.empty());
}

TEST_CASE("names of nested scopes become unique, and so do their labels and forward branches") {
  const module m(golden_text("scopes"));
  const body& b = m.body_of(*m.find_function("k"));
  CHECK(in_line(b, 17) == "setp.eq.s32 P1, %r1, #2");
  CHECK(in_line(b, 18) == "@P1 bra DONE$2");
  CHECK(in_line(b, 19) == "bra LAB_WAIT$2");
  CHECK(in_line(b, 25) == "setp.eq.s32 P1$2, %r1, #3");
  CHECK(in_line(b, 26) == "@!P1$2 bra DONE$3");
  CHECK(in_line(b, 27) == "bra.uni LAB_WAIT$3");
  CHECK(in_line(b, 32) == "mov.u32 %r1$2, t$2$3");
  CHECK(in_line(b, 33) == "mov.u32 %r2, %r1$2");
  CHECK(in_line(b, 34) == "setp.eq.s32 q$2, t$2$2, %r3");
  CHECK(in_line(b, 35) == "@P1$3 bra DONE$3");
  CHECK(in_line(b, 36) == "bra INNER$2");
  CHECK(in_line(b, 39) == "setp.eq.s32 q, %r1, #4");
  CHECK(in_line(b, 40) == "@P1$2 bra OUTER");
  CHECK(in_line(b, 45) == "mov.b32 shadowed$2, #5");
  CHECK(in_line(b, 50) == "mov.b32 %r4, w$2.y");
  CHECK(in_line(b, 54) == "mov.u32 t$3$0, #1");
  CHECK(in_line(b, 56) == "ld.global.u32 %r5, [shadowed]");
  CHECK(b.labels.at("DONE$2") == 4);
  CHECK(b.labels.at("LAB_WAIT$2") == 1);
  CHECK(b.labels.at("LAB_WAIT$3") == 4);
  CHECK(b.labels.count("DONE") == 0);

  std::set<std::string_view> names;
  for (const register_declaration& r : b.registers) {
    CHECK_MESSAGE(names.insert(r.name).second, std::string(r.name), " is declared twice");
  }
}

TEST_CASE("a generated name avoids the names in the text") {
  CHECK(all_of(".reg .b32 a, a$2; { .reg .b32 a; mov.b32 a, a$2; }") == lines{"mov.b32 a$3, a$2"});
  CHECK(all_of("{ .reg .b32 a; mov.b32 a, 1; } .reg .b32 a; mov.b32 a, 2;") ==
        lines{"mov.b32 a, #1", "mov.b32 a$2, #2"});
  CHECK(all_of("{ .reg .b32 a; mov.b32 a, 1; } .reg .b32 a<4>; mov.b32 a3, 2;") ==
        lines{"mov.b32 a, #1", "mov.b32 a$2$3, #2"});
}

TEST_CASE("a name in the body may hide a parameter") {
  const module m(
      ".version 9.0 .target sm_90 .func f(.param .u32 x) { .reg .u32 x; mov.u32 x, 1; }");
  CHECK(shown(m.body_of(m.functions[0]).instructions[0]) == "mov.u32 x$2, #1");
}

TEST_CASE("spaces in an opcode, empty statements, 1 and !1 are parsed") {
  const module m(kernel_text("add .s32 %r1, %r2, %r3;;; setp.ne.and.b32 p, a, 0, !1;"));
  const body& b = m.body_of(m.functions[0]);
  REQUIRE(b.instructions.size() == 2);
  CHECK(b.instructions[0].opcode == "add");
  CHECK(b.instructions[0].modifiers == std::vector<std::string_view>{"s32"});
  CHECK(b.instructions[0].text == "add .s32");
  CHECK(shown(b.instructions[1]) == "setp.ne.and.b32 p, a, #0, #0");
}

TEST_CASE("constant expressions are evaluated") {
  const auto value = [](const std::string& text) {
    return all_of("mov.u64 a, " + text + ";").at(0).substr(11);
  };
  CHECK(value("2 + 3 * 4") == "#14");
  CHECK(value("(2 + 3) * 4") == "#20");
  CHECK(value("10 - 3 - 2") == "#5");
  CHECK(value("-7 / 2") == "#-3");
  CHECK(value("-7 % 4") == "#-3");
  CHECK(value("-1 >> 63") == "#-1");
  CHECK(value("0xFFFFFFFFFFFFFFFF >> 63") == "#1");
  CHECK(value("1 << 70") == "#0");
  CHECK(value("(.u64) -1 > 0") == "#1");
  CHECK(value("-1 > 0") == "#0");
  CHECK(value("1 ? 2 : 1 ? 3 : 4") == "#2");
  CHECK(value("!5 + ~0") == "#-1");
  CHECK(value("1 == 1 && 2 != 2 || 3 <= 3") == "#1");
  CHECK(value("6 & 3 | 8 ^ 1") == "#11");
  CHECK(value("0x8000000000000000 / -1 * 0") == "#0");
  CHECK(value("-9223372036854775807 - 1") == "#-9223372036854775808");
  CHECK(value("-0f3F800000") == "f#3212836864");
  CHECK(value("1.5 + 1") == "d#4612811918334230528");
  CHECK(all_of("ld.u32 a, [b + 8 - 4 + 2*3];") == lines{"ld.u32 a, [b+10]"});
}

TEST_CASE("the errors of a body name the line, what was expected and what was found") {
  const auto problem = [](const std::string& text) { return error_of(kernel_text(text)); };
  CHECK(problem("add.s32 %r1, %r2 %r3;") ==
        "PTX line 5: expected ',' or ';' after an operand of 'add.s32', found '%r3'");
  CHECK(problem("ret;\nadd.s32 %r1, %r2\n}") == "PTX line 8: expected a directive, found '}'");
  CHECK(problem("add.s32 %r1, ;") == "PTX line 5: expected an operand, found ';'");
  CHECK(problem("ld.u32 %r1, [%r2;") == "PTX line 5: expected ']' after an address, found ';'");
  CHECK(problem("ld.u32 %r1, [%r2+%r3];") == "PTX line 5: expected a constant offset, found '%r3'");
  CHECK(problem("mov.b64 {%r1, %r2, %rd1;") == "PTX line 4: the '{' opened here is never closed");
  CHECK(problem("mov.b64 {%r1, %r2], %rd1;}") ==
        "PTX line 5: expected '}' or ',' in an operand, found ']'");
  CHECK(problem("mov.u32 a, b[3];").find("array elements as operands are not supported") !=
        std::string::npos);
  CHECK(problem("ld..u32 a, b;") == "PTX line 5: expected a modifier after '.', found 'a'");
  CHECK(problem("@p1 ;") == "PTX line 5: expected an instruction, found ';'");
  CHECK(problem(".maxntid 3;") ==
        "PTX line 5: expected a directive of a function's body, found '.maxntid'");
  CHECK(problem(".reg .b32 a; .reg .b32 a;") == "PTX line 5: 'a' is declared twice in one scope");
  CHECK(problem(".reg .b32 a<3>; .reg .b32 a<3>;") ==
        "PTX line 5: 'a' is declared twice in one scope");
  CHECK(problem("L: ret; L: ret;") == "PTX line 5: the label 'L' is defined a second time");
  CHECK(problem("{ L: ret; L: ret; }") == "PTX line 5: the label 'L' is defined a second time");
  CHECK(problem(".reg .b32 a<9999999>;") ==
        "PTX line 5: expected a number of registers of at most 1048576, found '9999999'");
  CHECK(problem(".loc 1 2;") == "PTX line 5: expected a column, found ';'");
  CHECK(problem("call (x, f;") == "PTX line 5: expected ')' or ',' in an operand, found ';'");
}

}  // namespace
}  // namespace stepwise::ptx
