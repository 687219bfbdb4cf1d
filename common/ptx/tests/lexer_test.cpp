// Tests the tokens of PTX.
#include "common/ptx/lexer.hpp"

#include "common/ptx/tests/golden.hpp"

namespace stepwise::ptx {
namespace {

TEST_CASE("a dotted chain is one word, and a label and its colon are two tokens") {
  const std::string text = "cp.async.shared::cluster.L2::128B label: %tid.x $L__BB0_1 _ .v4.f32";
  lexer in(text, 1);
  CHECK(in.next().text == "cp.async.shared::cluster.L2::128B");
  CHECK(in.next().text == "label");
  CHECK(in.next().is(':'));
  CHECK(in.next().text == "%tid.x");
  CHECK(in.next().text == "$L__BB0_1");
  CHECK(in.next().is(token_kind::word, "_"));
  CHECK(in.next().is(token_kind::directive, ".v4"));
  CHECK(in.next().is(token_kind::directive, ".f32"));
  CHECK(in.next().kind == token_kind::end);
  CHECK(in.next().kind == token_kind::end);
}

TEST_CASE("numbers have their values") {
  const auto value = [](const std::string& text) { return lexer(text, 1).next(); };
  CHECK(value("0").bits == 0);
  CHECK(value("42").bits == 42);
  CHECK(value("0xFf").bits == 255);
  CHECK(value("0XFF00").bits == 0xFF00);
  CHECK(value("017").bits == 15);
  CHECK(value("0b1101").bits == 13);
  CHECK(value("7U").is_unsigned);
  CHECK(value("0U").bits == 0);
  CHECK(value("18446744073709551615").bits == ~std::uint64_t{0});
  CHECK(value("0f3F800000").kind == token_kind::float32);
  CHECK(value("0F3f800000").bits == 0x3F800000);
  CHECK(value("0dC000000000000000").kind == token_kind::float64);
  CHECK(value("0dC000000000000000").bits == 0xC000000000000000);
  CHECK(value("1.5").bits == 0x3FF8000000000000);
  CHECK(value("25e-1").bits == 0x4004000000000000);
}

TEST_CASE("malformed tokens are refused with their line") {
  const auto problem = [](const std::string& text) -> std::string {
    try {
      lexer in(text, 7);
      while (in.next().kind != token_kind::end) {
      }
    } catch (const parse_error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(problem("0f3F80000") ==
        "PTX line 7: expected 8 hexadecimal digits in the number '0f3F80000'");
  CHECK(problem("0d3F800000") ==
        "PTX line 7: expected 16 hexadecimal digits in the number '0d3F800000'");
  CHECK(problem("18446744073709551616") ==
        "PTX line 7: the integer '18446744073709551616' does not fit in 64 bits");
  CHECK(problem("0x") == "PTX line 7: malformed number '0x'");
  CHECK(problem("12ab") == "PTX line 7: malformed number '12ab'");
  CHECK(problem("089") == "PTX line 7: malformed number '089'");
  CHECK(problem("1.5f") == "PTX line 7: malformed number '1.5'");
  CHECK(problem("a\n\n\"b\nc\"") == "PTX line 9: expected '\"' at the end of a string");
  CHECK(problem("\n/* a\n b") == "PTX line 8: the comment that starts here is never closed");
  CHECK(problem("# 1 \"x\"") == "PTX line 7: no PTX token starts with '#'");
  CHECK(problem(std::string("a\0b", 3)) == "PTX line 7: no PTX token starts with '?'");
  CHECK(problem("\"\x1b[31m\"") == "PTX line 7: a string with a control character");
  CHECK(problem(". x") == "PTX line 7: expected a name after '.'");
}

TEST_CASE("comments are skipped, and lines are counted") {
  const std::string text = "a // b {\n/* c\n\n*/ d \"//no comment\" e/f";
  lexer in(text, 1);
  CHECK(in.next().line == 1);
  const token d = in.next();
  CHECK(d.text == "d");
  CHECK(d.line == 4);
  CHECK(in.next().is(token_kind::string, "//no comment"));
  CHECK(in.next().text == "e");
  CHECK(in.next().is('/'));
}

TEST_CASE("a block is skipped with its nested braces, strings and comments") {
  const std::string text = "{\n a { b } \"}\" // }\n /* } */ c } d";
  lexer in(text, 3);
  REQUIRE(in.next().is('{'));
  std::uint32_t line = 0;
  CHECK(in.skip_block(line) == "\n a { b } \"}\" // }\n /* } */ c ");
  CHECK(line == 3);
  const token d = in.next();
  CHECK(d.text == "d");
  CHECK(d.line == 5);
}

}  // namespace
}  // namespace stepwise::ptx
