// Tests the tokens of C++ and CUDA source.
#include "common/source_map/source_tokens.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace stepwise;

namespace {

// The tokens, separated by spaces. The tokens of a directive begin with its name.
std::string tokens(std::string_view source) {
  std::string all;
  for (const source_token& t : tokens_of(source)) {
    CHECK(source.substr(t.begin, t.text.size()) == t.text);
    CHECK(t.line == 1 + std::count(source.begin(),
                                   source.begin() + static_cast<std::ptrdiff_t>(t.begin), '\n'));
    if (!all.empty()) all += ' ';
    if (!t.directive.empty()) all += std::string(t.directive) + ":";
    all += t.text;
  }
  return all;
}

std::string kinds(std::string_view source) {
  std::string all;
  for (const source_token& t : tokens_of(source)) all += "wnts"[static_cast<int>(t.what)];
  return all;
}

}  // namespace

TEST_CASE("words, numbers, literals and operators are tokens") {
  CHECK(tokens("x_1=1'000u+0x1p3;") == "x_1 = 1'000u + 0x1p3 ;");
  CHECK(kinds("x_1 = 1'000u + f('\\'', \"a\\\"b\");") == "wsnswststss");
  CHECK(tokens("a<=b&&c||d==e; p->x>>=y; s&=t") ==
        "a <= b && c || d == e ; p - > x > >= y ; s &= t");
  CHECK(tokens("k<<<1, 2>>>(x);") == "k < < < 1 , 2 > > > ( x ) ;");
  CHECK(tokens("1.5f .5 1e-3") == "1.5f . 5 1e - 3");
}

TEST_CASE("comments and strings hide what they contain") {
  CHECK(tokens("a// b \" /*\nc/* // \n \" */d") == "a c d");
  CHECK(tokens("a // b \\\n still b\nc") == "a c");
  CHECK(tokens("f(\"// no comment\", '\"', \"/*\");") ==
        "f ( \"// no comment\" , '\"' , \"/*\" ) ;");
  CHECK(tokens("R\"x(a \" )\" )x\"; b") == "\"x(a \" )\" )x\" ; b");
  CHECK(tokens("FOR\"(\" b") == "FOR \"(\" b");
  CHECK(tokens("a \\\n b") == "a b");
}

TEST_CASE("a directive ends with its line") {
  CHECK(tokens("#include <a/b.h>\nc") ==
        "include:# include:include include:< include:a include:/ include:b include:. include:h "
        "include:> c");
  CHECK(tokens(" # define a \\\n b // c\nd") == "define:# define:define define:a define:b d");
  CHECK(tokens("#if /* \n */ a\nb") == "if:# if:if if:a b");
  CHECK(tokens("#\na # b") == "#:# a # b");
}

TEST_CASE("a malformed token ends with its line or with the source") {
  CHECK(tokens("\"open\na 'b\nc") == "\"open a 'b c");
  CHECK(tokens("a /* open") == "a");
  CHECK(tokens("a R\"x(open )\"") == "a \"x(open )\"");
  CHECK(tokens("R\"open") == "\"open");
  CHECK(tokens("\"\\") == "\"\\");
  CHECK(tokens("#") == "#:#");
  CHECK(tokens("").empty());
}
