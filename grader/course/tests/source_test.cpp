// Derives skeletons from steps.
#include "grader/course/source.hpp"

#include <doctest/doctest.h>

#include "grader/system/failure.hpp"

using namespace stepwise;

namespace {

constexpr const char* step_text =
    "// lab 01_x: what it does.\n"
    "//\n"
    "// idea    A block reads once\n"
    "//         and writes one sum.\n"
    "// watch   Idle warps: 2 of 3.\n"
    "// source  Author: \"A book\" (2007).\n"
    "#include \"x.hpp\"\n"
    "void f() {\n"
    "  //> todo: add up; wait.\n"
    "  one();\n"
    "  two();\n"
    "  //<\n"
    "}\n";

}  // namespace

TEST_CASE("a region becomes one TODO line with the region's indentation") {
  const std::string skeleton = derive_skeleton(step_text, "solutions/lab/01_x.cu");
  CHECK(skeleton.starts_with("// Generated from solutions/lab/01_x.cu by lab start.\n// lab 01_x"));
  CHECK(skeleton.find("void f() {\n  // TODO: add up; wait.\n}\n") != std::string::npos);
  CHECK(skeleton.find("one()") == std::string::npos);
  // The student who writes the step does not see its results.
  CHECK(skeleton.find("and writes one sum.\n// source  Author") != std::string::npos);
  const auto todos = find_todos(skeleton);
  REQUIRE(todos.size() == 1);
  CHECK(todos[0].text == "add up; wait.");
  CHECK(split_lines(skeleton).at(todos[0].line - 1) == "  // TODO: add up; wait.");
}

TEST_CASE("an unpaired marker is reported with its line") {
  CHECK_THROWS_WITH_AS(derive_skeleton("a\n//> todo: x\nb\n", "f.cu"),
                       "f.cu:2: //> todo: without a //< after it", failure);
  CHECK_THROWS_WITH_AS(derive_skeleton("a\n//<\n", "f.cu"),
                       "f.cu:2: //< without a //> todo: before it", failure);
  CHECK_THROWS_WITH_AS(derive_skeleton("//> todo: x\n//> todo: y\n//<\n", "f.cu"),
                       "f.cu:2: //> inside the region that starts in line 1", failure);
  CHECK_THROWS_AS(derive_skeleton("int x;\n", "f.cu"), failure);
}

TEST_CASE("the header's fields are read with their continuation lines") {
  auto fields = header_fields(step_text);
  CHECK(fields[""] == "what it does.");
  CHECK(fields["idea"] == "A block reads once and writes one sum.");
  CHECK(fields["watch"] == "Idle warps: 2 of 3.");
  CHECK(fields["source"] == "Author: \"A book\" (2007).");
  CHECK(header_lines(split_lines(step_text)) == 6);
}

TEST_CASE("markers are removed, and lines keep their numbers") {
  const auto clean = without_markers(step_text);
  REQUIRE(clean.lines.size() == 11);
  CHECK(clean.lines[8] == "  one();");
  CHECK(clean.numbers[8] == 10);
  CHECK(clean.numbers[10] == 13);
}

TEST_CASE("all usual line endings are recognised") {
  CHECK(split_lines("a\r\nb\n\nc") == std::vector<std::string>{"a", "b", "", "c"});
  CHECK(split_lines("").empty());
}

TEST_CASE("suspicious statements: assignments as conditions, and loops without a body") {
  const auto lines = [](std::string_view source) {
    std::vector<std::size_t> found;
    for (const todo& t : suspicious_statements(source)) found.push_back(t.line);
    return found;
  };
  using are = std::vector<std::size_t>;
  CHECK(lines("if (i = n) f();\nif (a[i + 1] = 2) f();\nif (p.x = 3) f();") == are{1, 2, 3});
  CHECK(lines("if (i == n) f();\nif (i <= n) f();\nif (int i = n) f();\nif ((i = n)) f();\n"
              "if (i + 1 == n) f();\nif (f(i = 2)) g();\n// if (i = n)\n#if (i = n)")
            .empty());
  CHECK(lines("for (int k = 0; k < n; ++k);\n  sum += a[k];") == are{1});
  CHECK(lines("\nfor (int k = 0; k < f(n); ++k);\n{ sum += a[k]; }") == are{2});
  CHECK(lines("  for (int k = 0; ok(k); ++k);\n  sum = 0;\nfor (;;) f();").empty());
  CHECK(lines("for (int k = 0; k < n; ++k").empty());
}

TEST_CASE("each feature that a grade refuses is named once") {
  using names = std::vector<std::string>;
  CHECK(refused_when_graded("__global__ void k();", false).empty());
  CHECK(refused_when_graded("cudaMallocManaged(&p, 4); __managed__ int x;", true) ==
        names{"managed memory"});
  CHECK(refused_when_graded("cudaGraphLaunch(g, s); cudaCreateTextureObject(&t, &r, &d, 0);",
                            true) == names{"texture objects", "graphs"});
  const std::string copy = "cudaMemcpy(&sum, out, 4, cudaMemcpyDeviceToHost);";
  CHECK(refused_when_graded(copy, false) == names{"copies to the host"});
  CHECK(refused_when_graded(copy, true).empty());
}
