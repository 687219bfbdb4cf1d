// The constants of a source file that a sweep can vary, and the source with other values.
#include "grader/course/constants.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "grader/system/failure.hpp"

using namespace stepwise;

namespace {

// For example "threads=256 items=4".
std::string found_in(std::string_view source) {
  std::string text;
  for (const auto& c : constants_of(source)) {
    CHECK(source.substr(c.begin, c.end - c.begin) == c.value);
    text += (text.empty() ? "" : " ") + c.name + "=" + c.value;
  }
  return text;
}

std::string changed(std::string_view source, const std::string& name, const std::string& value) {
  return with_values(source, {{find_constant(constants_of(source), name, "x.cu"), value}});
}

std::string refusal(std::string_view source, const std::string& name) {
  try {
    find_constant(constants_of(source), name, "x.cu");
  } catch (const failure& error) {
    CHECK(error.code() == exit_code::usage);
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("constants are scalars with an initialiser, at file scope or in a namespace") {
  struct row {
    const char* source;
    const char* found;
  };
  for (const row& r : {
           row{"constexpr int threads = 256;  // of a block", "threads=256"},
           row{"constexpr int cols = 32, rows = 4;", "cols=32 rows=4"},
           row{"constexpr int half = tile / 2;", "half=tile / 2"},
           row{"constexpr int threads = (rows / part) * (cols / part);",
               "threads=(rows / part) * (cols / part)"},
           row{"static const unsigned n{1'024u}, m = 0x10;", "n=1'024u m=0x10"},
           row{"inline constexpr float scale = -1e-3f;", "scale=-1e-3f"},
           row{"constexpr auto mode = ways::by_warp;", "mode=ways::by_warp"},
           row{"[[maybe_unused]] constexpr bool padded = true;", "padded=true"},
           row{"constexpr std::size_t bytes = sizeof(pair<int, float>), more = 1;",
               "bytes=sizeof(pair<int, float>) more=1"},
           row{"constexpr int v = pair<3, w>::value, u = 2;", "v=pair<3, w>::value u=2"},
           row{"namespace { namespace a::b { constexpr int x = 1; } constexpr int y = 2; }\n"
               "constexpr int z = 3;",
               "x=1 y=2 z=3"},
           row{"extern \"C\" { constexpr int x = 1; }", "x=1"},
           // the scan continues after functions, classes and templates
           row{"int f(int n) { constexpr int inner = 5; return n; }\nconstexpr int x = 1;", "x=1"},
           row{"struct s { static constexpr int inner = 5; };\nconstexpr int x = 1;", "x=1"},
           row{"enum way { by_lane = 0, by_warp };\nconstexpr int x = by_warp;", "x=by_warp"},
           row{"template <int N = 3>\nconstexpr int twice = 2 * N;\nconstexpr int x = 1;", "x=1"},
           row{"template <class T>\n__global__ void k(T* p) { const int i = 1; }\n"
               "constexpr int x = 1;",
               "x=1"},
           row{"constexpr int f(int n = 3) { return n; }\nconstexpr int x = f(2);", "x=f(2)"},
           row{"void g() { k<<<grid, block>>>(1); }\nconstexpr int x = 1;", "x=1"},
           // these are not scalars
           row{"constexpr int list[] = {1, 2, 3};\nconstexpr int x = 1;", "x=1"},
           row{"constexpr int list[2][3] = {{1}}, x = 1;", "x=1"},
           row{"const char* const text = \"a = 1;\";\nconstexpr int x = 1;", "x=1"},
           row{"constexpr auto twice = [](int n) { return 2 * n; };\nconstexpr int x = 1;", "x=1"},
           row{"int variable = 3;\nconstexpr int x = 1;", "x=1"},
           row{"using fixed = const int;\nconstexpr int x = 1;", "x=1"},
           // these are not code
           row{"// constexpr int a = 1;\n/* constexpr int b = 2; */ constexpr int x = 1;", "x=1"},
           row{"#define a constexpr int b = \\\n  2;\nconstexpr int x = 1;", "x=1"},
           row{"const auto t = R\"x(constexpr int a = 1;)\" )x\";\nconstexpr int x = 1;", "x=1"},
           row{"constexpr char c = ';', d = '\\'';\nconstexpr int x = 1;", "x=1"},
           row{"constexpr int x = /* many */ 3 /* or */ ;", "x=3"},
           row{"constexpr int x = a == b;", "x=a == b"},
           row{"", ""},
           row{"constexpr int x", ""},
           row{"constexpr int x = ", ""},
           row{"}}} constexpr int x = 1;", "x=1"},
           row{"constexpr int x = (1;", ""},
       }) {
    CAPTURE(r.source);
    CHECK(found_in(r.source) == r.found);
  }
}

TEST_CASE("a new value replaces the old one, and lines keep their numbers") {
  CHECK(changed("constexpr int cols = 32, rows = 4;  // x", "rows", "16") ==
        "constexpr int cols = 32, rows = 16;  // x");
  CHECK(changed("constexpr int n{4};", "n", "8") == "constexpr int n{8};");
  CHECK(changed("constexpr int n =\n  4 *\n  5;\nint f();", "n", "8") ==
        "constexpr int n =\n  8\n;\nint f();");
  const std::string two = "constexpr int a = 1;\nconstexpr int b = 2;\n";
  const auto constants = constants_of(two);
  CHECK(with_values(two, {{constants[1], "20"}, {constants[0], "10"}}) ==
        "constexpr int a = 10;\nconstexpr int b = 20;\n");
  CHECK(constants[1].line == 2);
}

TEST_CASE("for a missing constant, the message lists the constants of the file") {
  const std::string source = "constexpr int threads = 256;\nconstexpr int items = 4;\n";
  const std::string message = refusal(source, "thread");
  CHECK(message.find("x.cu has no constant \"thread\"; did you mean \"threads\"?") == 0);
  CHECK(message.find("items = 4") != std::string::npos);
  CHECK(refusal("int f();", "x").find("has no constants") != std::string::npos);
  CHECK(refusal("namespace a { constexpr int x = 1; }\nconstexpr int x = 2;", "x")
            .find("twice, in lines 1 and 2") != std::string::npos);
  CHECK(refusal(source, "items").empty());
}
