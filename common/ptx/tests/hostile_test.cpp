// Text that is not PTX must give an error or an AST, within time and memory that are bounded by the
// size of the text. A sanitiser lets these tests detect more errors.
#include "common/ptx/tests/golden.hpp"

namespace stepwise::ptx {
namespace {

std::string repeated(const std::string& what, std::size_t times) {
  std::string out;
  out.reserve(what.size() * times);
  while (times-- > 0) out += what;
  return out;
}

TEST_CASE("every truncation of the golden modules is an error or a module") {
  for (const std::string& name : golden_names()) {
    const std::string text = golden_text(name);
    std::size_t errors = 0;
    for (std::size_t n = 0; n < text.size(); ++n) errors += !error_of(text.substr(0, n)).empty();
    // Few positions are between two declarations.
    CHECK(errors > text.size() / 2);
  }
}

TEST_CASE("every flipped bit of the golden modules gives an error or a module") {
  for (const std::string& name : golden_names()) {
    std::string text = golden_text(name);
    std::size_t errors = 0;
    for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
      text[bit / 8] ^= static_cast<char>(1 << bit % 8);
      errors += !error_of(text).empty();
      text[bit / 8] ^= static_cast<char>(1 << bit % 8);
    }
    CHECK(errors > text.size());
    CHECK(error_of(text) == "");
  }
}

// A megabyte of each construct. Work that grows with the square of its size would exceed the test's
// time limit, and unbounded recursion would end the process.
constexpr std::size_t many = 250000;

TEST_CASE("deep nesting is refused") {
  for (const char* const opening : {"{", "mov a, {", "mov a, [", "call (", "mov a, (", "mov a, -",
                                    "mov a, ~", "mov a, !", "mov a, 1 ? ", "mov a, 1 + ("}) {
    const std::string start = opening;
    const std::string last = start.substr(start.find_last_of(' ') + 1);
    const std::string text = start + repeated(last.empty() ? "1 ? " : last, many);
    CHECK_MESSAGE(error_of(kernel_text(text + repeated("}", many))) != "", "opening ", start);
    CHECK_MESSAGE(error_of(kernel_text(text)) != "", "opening ", start);
  }
  const std::string head = ".version 9.0 .target sm_90 ";
  CHECK(error_of(head + ".global .u32 a[4] = " + repeated("{", many)) ==
        "PTX line 1: nested too deeply");
  CHECK(error_of(head + ".global .u32 a" + repeated("[2]", many)) != "");
  CHECK(error_of(head + ".entry k() " + repeated("{", many)) ==
        "PTX line 1: the '{' opened here is never closed");
}

TEST_CASE("declaring one name repeatedly costs as much as declaring many names") {
  CHECK(error_of(kernel_text(repeated("{.reg .b32 a; mov.b32 a, 1;}", many / 8))) == "");
  CHECK(error_of(kernel_text(repeated("{.reg .b32 a<2>; mov.b32 a1, 1;}", many / 8))) == "");
  CHECK(error_of(kernel_text(repeated("{L: bra L;}", many / 8))) == "");
  CHECK(error_of(kernel_text(repeated("{", 99) + repeated("ret;", many / 4) +
                             repeated("M: bra M;}", 99))) == "");
  std::string taken;
  for (std::size_t i = 2; i < many / 16; ++i) taken += ".reg .b32 a$" + std::to_string(i) + ";";
  CHECK(error_of(kernel_text(taken + repeated("{.reg .b32 a;}", many / 16))) == "");
}

TEST_CASE("many jumps that share one long list are refused") {
  const std::string list = "L: .branchtargets " + repeated("a,", 20000) + "a; a:\n";
  CHECK(error_of(kernel_text(list + repeated("brx.idx r, L;\n", 100))) == "");
  CHECK(error_of(kernel_text(list + repeated("brx.idx r, L;\n", 20000))).find("too many targets") !=
        std::string::npos);
}

TEST_CASE("very long records, lists and numbers are parsed or refused") {
  CHECK(error_of(kernel_text(repeated(".loc 1 1 1, function_name f, inlined_at 1 1 1\n", many / 8) +
                             "ret;")) == "");
  CHECK(error_of(kernel_text("call (" + repeated("a,", many) + "a), f;")) == "");
  CHECK(error_of(kernel_text("mov.b32 a, " + repeated("1+", many) + "1;")) == "");
  CHECK(error_of(kernel_text("mov.b32 a" + repeated(".x", many) + ", 1;")) == "");
  CHECK(error_of(kernel_text("mov.b32 a, " + repeated("9", many) + ";")) != "");
  CHECK(error_of(kernel_text("L: .branchtargets " + repeated("a,", many) + "a;")) == "");
  CHECK(error_of(".version 9.0 .target sm_90 .global .u8 a[] = {" + repeated("1,", many) + "1};") ==
        "");
  CHECK(error_of(".version 9.0 .target sm_90 " + repeated(".alias a, b;", many / 8)) == "");
}

}  // namespace
}  // namespace stepwise::ptx
