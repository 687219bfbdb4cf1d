// Tests of the opcode tests. Comments are read and kernels are generated as described. A wrong
// result, a missing write and a failed launch are all detected.
#include "common/emulator/tests/opcode_case.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>

namespace stepwise::opcodes {
namespace {

// A complete kernel that adds 1, without the comments that a test puts above it.
const char* const add_one = R"(
.visible .entry add_one(.param .u64 a, .param .u64 y) {
  .reg .b32 %i, %x;
  .reg .b64 %at;
  .reg .pred %p;
  mov.u32 %i, %tid.x;
  ld.param.u64 %at, [a];
  mad.wide.u32 %at, %i, 4, %at;
  ld.global.u32 %x, [%at];
  setp.eq.u32 %p, %x, 999;
  @%p ret;
  add.u32 %x, %x, 1;
  ld.param.u64 %at, [y];
  mad.wide.u32 %at, %i, 4, %at;
  st.global.u32 [%at], %x;
  ret;
}
)";

test_file with_comments(const std::string& comments) {
  return read_test("sample",
                   ".version 8.0\n.target sm_90\n.address_size 64\n" + comments + add_one);
}

test_file generated(const std::string& test) { return read_test("sample", "// Prose.\n" + test); }

std::vector<std::string> outcome(const test_file& file) {
  std::unique_ptr<device> on = make_emulated_device(*find_gpu("h200"));
  auto module = on->load_module(std::as_bytes(std::span(file.ptx)));
  REQUIRE(module.ok());
  return run_case(*on, true, *module, file, file.cases.at(0));
}

void check_refused(const std::string& comments, const std::string& message) {
  CAPTURE(comments);
  try {
    with_comments(comments);
    FAIL("was accepted");
  } catch (const format_error& problem) {
    CHECK_MESSAGE(std::string(problem.what()).find(message) != std::string::npos, problem.what());
  }
}

}  // namespace

TEST_CASE("a right result passes") {
  CHECK(
      outcome(with_comments("// kernel: add_one\n// in a: u32 1 2\n// out y: u32 2 3\n")).empty());
}

TEST_CASE("a wrong result is reported with its line and its inputs") {
  const auto lines =
      outcome(with_comments("// kernel: add_one\n// in a: u32 1 2\n// out y: u32 2 4\n"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == "sample.ptx:6: add_one: y[1] = 0x3, expected 0x4 for a = 0x2");
}

TEST_CASE("the poison reveals a kernel that writes nothing") {
  const auto lines =
      outcome(with_comments("// kernel: add_one\n// in a: u32 999\n// out y: u32 1000\n"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("y[0] = 0xcdcdcdcd") != std::string::npos);
}

TEST_CASE("an unexpected failure, and a missing expected failure, are detected") {
  test_file file = with_comments(
      "// kernel: add_one\n// threads: 1\n// value a: u64 64\n// value y: u64 64\n"
      "// fails: illegal_address\n");
  CHECK(outcome(file).empty());
  file.cases[0].fails = error::success;
  CHECK(outcome(file).size() == 1);
  file = with_comments(
      "// kernel: add_one\n// in a: u32 1\n// out y: u32 2\n// fails: launch_failure\n");
  CHECK(outcome(file).size() == 1);
}

TEST_CASE("'emulated: not yet' must be removed once the emulator runs the instruction") {
  const auto lines = outcome(
      with_comments("// kernel: add_one\n// emulated: not yet\n// in a: u32 1\n// out y: u32 2\n"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("remove 'emulated: not yet'") != std::string::npos);
}

TEST_CASE("values: repetition, ranges, bits, ignored values, continued lines") {
  const test_file file = with_comments(
      "// kernel: add_one\n// threads: 4 2\n// blocks: 3\n// in a: s16 -1*3 5..7\n//     0xffff\n"
      "// out y within 2 ulp or 1e-6: f32 1.5 0x3f800000 -0 nan _ inf\n");
  const test_case& c = file.cases[0];
  CHECK(c.threads.x == 4);
  CHECK(c.threads.y == 2);
  CHECK(c.blocks.x == 3);
  const std::vector<std::uint64_t> halves = {0xffff, 0xffff, 0xffff, 5, 6, 7, 0xffff};
  REQUIRE(c.parameters[0].initial.size() == halves.size());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    CHECK(c.parameters[0].initial[i].bits == halves[i]);
  }
  const parameter& y = c.parameters[1];
  CHECK(y.ulps == 2);
  CHECK(y.absolute == 1e-6);
  REQUIRE(y.expected.size() == 6);
  CHECK(y.expected[0].bits == 0x3fc00000);
  CHECK(y.expected[1].bits == 0x3f800000);
  CHECK(y.expected[2].bits == 0x80000000);
  CHECK(y.expected[3].how == match::nan);
  CHECK(y.expected[4].how == match::anything);
  CHECK(y.expected[5].bits == 0x7f800000);
}

TEST_CASE("hashed words, by memory and by thread, with a mask, with 64 bits") {
  const auto bits_of = [](const std::string& list) {
    std::vector<std::uint64_t> bits;
    const test_file file = with_comments("// kernel: add_one\n// threads: 2\n// out y: " + list);
    for (const value& v : file.cases[0].parameters[0].expected) bits.push_back(v.bits);
    return bits;
  };
  CHECK(bits_of("u32 hashed(1,2) 5\n") ==
        std::vector<std::uint64_t>{1000 * 0x9e3779b1u, 1001 * 0x9e3779b1u, 5});
  CHECK(bits_of("u32 hashed(0,2x2)&0xff00|0x1\n") ==
        std::vector<std::uint64_t>{1, ((32 * 0x9e3779b1u) & 0xff00u) | 1, 0x7901,
                                   ((33 * 0x9e3779b1u) & 0xff00u) | 1});
  CHECK(bits_of("f64 hashed(0,2)\n") == std::vector<std::uint64_t>{0, 0x9e3779b100000000});
}

TEST_CASE("a structure is laid out as in C") {
  const test_file file = with_comments(
      "// kernel: add_one\n// threads: 1\n// value s: u8 1 f64 1 u16 2 3\n// out y: u32 1\n");
  const parameter& s = file.cases[0].parameters[0];
  CHECK(s.alignment == 8);
  REQUIRE(s.plain_bytes.size() == 24);
  CHECK(s.plain_bytes[0] == std::byte{1});
  CHECK(s.plain_bytes[15] == std::byte{0x3f});
  CHECK(s.plain_bytes[18] == std::byte{3});
}

TEST_CASE("a generated kernel loads the inputs and stores the outputs") {
  const std::string comments = "// kernel: k\n// in a: u32 1 2\n// out y: u32 ";
  CHECK(outcome(generated(comments + "2 3\n  add.u32 %y, %a, 1;\n")).empty());
  const auto lines = outcome(generated(comments + "2 4\n  add.u32 %y, %a, 1;\n"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == "sample.ptx:4: k: y[1] = 0x3, expected 0x4 for a = 0x2");
}

TEST_CASE("a generated kernel has a register for each value of any width") {
  CHECK(outcome(generated("// kernel: k\n// threads: 2\n// in a: u16 1 2 3 4\n"
                          "// in b: s8 -1 5\n// in c: f64 0.5 2\n// out y: u16 3 7\n"
                          "// out z: s8 -2 -1 10 5\n// out w: f64 1 4\n"
                          "  add.u16 %y, %a0, %a1;\n  add.s16 %z0, %b, %b;\n"
                          "  mov.b16 %z1, %b;\n  add.f64 %w, %c, %c;\n"))
            .empty());
}

TEST_CASE("a generated kernel stores predicates as words") {
  const std::string comments = "// kernel: k\n// threads: 2\n// in a: u32 1 7\n// out y: pred ";
  const std::string body = "\n  setp.lt.u32 %y0, %a, 5;\n  setp.lt.u32 %y1, %a, 9;\n";
  CHECK(outcome(generated(comments + "1 1 0 1" + body)).empty());
  CHECK(outcome(generated(comments + "1 1 1 1" + body)).size() == 1);
}

TEST_CASE("a generated kernel passes addresses") {
  CHECK(outcome(generated("// kernel: k\n// inout c: u32 1 2 -> 11 12\n"
                          "// in a in place: u32 7 8\n// out y by address: u32 8 7 9\n"
                          "  .reg .b32 %x;\n  atom.global.add.u32 %x, [%c], 10;\n"
                          "  ld.global.u32 %x, [%a];\n  xor.b32 %i, %i, 1;\n"
                          "  mad.wide.u32 %at, %i, 4, %y;\n  st.global.u32 [%at], %x;\n"
                          "  st.global.u32 [%y+8], 9;\n"))
            .empty());
}

TEST_CASE("cases of one kernel share its instructions, and lines keep their numbers") {
  const test_file file = generated(
      "// kernel: k\n// in a: u32 1\n// out y: u32 1\n\n"
      "// kernel: k\n// in a: u32 5 6\n//     7\n// out y: u32 5 6 7\n  mov.b32 %y, %a;\n");
  REQUIRE(file.cases.size() == 2);
  CHECK(file.cases[1].threads.x == 3);
  CHECK(outcome(file).empty());
  const auto before = file.ptx.substr(0, file.ptx.find("  mov.b32 %y"));
  CHECK(std::count(before.begin(), before.end(), '\n') == 9);
}

TEST_CASE("impossible generated kernels are refused, with their line") {
  auto check_generated = [](const std::string& test, const std::string& message) {
    CAPTURE(test);
    CHECK_THROWS_WITH_AS(generated(test), doctest::Contains(message.c_str()), format_error);
  };
  const std::string body = "  mov.b32 %y, 1;\n";
  check_generated("// kernel: k\n// threads: 2\n// out y: u32 1 2 3\n" + body,
                  "sample.ptx:4: 3 values for 2 threads");
  check_generated("// kernel: k\n// out y: u32 1\n// value v: u32 1\n" + body,
                  "sample.ptx:4: 'value' needs a kernel in full");
  check_generated("// kernel: k\n// out y: u32 1\n" + body + "label:\n",
                  "sample.ptx:5: expected an empty line");
}

TEST_CASE("malformed comments are refused, with their line") {
  check_refused("", "sample.ptx:1: no '// kernel: NAME'");
  check_refused("// in a: u32 1\n", "sample.ptx:4: 'in' before any 'kernel'");
  check_refused("// kernel: add_one\n// in a: u32 1\n", "could not fail");
  check_refused("// kernel: add_one\n// in a: x32 1\n", "sample.ptx:5: expected a type");
  check_refused("// kernel: add_one\n// in a: pred 1\n", "sample.ptx:5: expected a type");
  check_refused("// kernel: add_one\n// out y: u8 256\n", "'256' does not fit u8");
  check_refused("// kernel: add_one\n// out y: s8 -129\n", "'-129' does not fit s8");
  check_refused("// kernel: add_one\n// out y: u32 1x\n", "'1x' is not a valid u32");
  check_refused("// kernel: add_one\n// out y: u32 1*0\n", "repeats");
  check_refused("// kernel: add_one\n// out y: u32 5..2\n", "is not a valid range");
  check_refused("// kernel: add_one\n// out y: u16 hashed(0,2)\n", "32-bit words");
  check_refused("// kernel: add_one\n// out y: u32 hashed(0,2000x2000)\n", "too many values");
  check_refused("// kernel: add_one\n// out y around 2: u32 5\n", "expected 'within N ulp");
  check_refused("// kernel: add_one\n// inout y: u32 1 2 -> 3\n", "found 2 and 1");
  check_refused("// kernel: add_one\n// fails: somehow\n", "unknown error");
}

}  // namespace stepwise::opcodes
