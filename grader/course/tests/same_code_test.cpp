// Tests that copies with other names and comments are found, and that different code is not.
#include "grader/course/same_code.hpp"

#include <doctest/doctest.h>

#include "grader/system/files.hpp"

using namespace stepwise;

namespace {

const std::string original =
    "// reduction: adds\n#include \"a.hpp\"\nconstexpr int size = 1'000;\n"
    "__global__ void add(const int* in, int* out) {\n  out[threadIdx.x] = in[size] + 2;\n}\n";

bool is_same(const std::string& other) {
  return code_without_names(original) == code_without_names(other);
}

}  // namespace

TEST_CASE("other names, comments, spaces and includes do not make different code") {
  CHECK(is_same(original));
  CHECK(
      is_same("#include \"b.hpp\"\n#include <c>\n#pragma once\n constexpr int n=1000;/* mine */"
              "__global__ void k(const int*x_in,int*y_out)\n{y_out[threadIdx.x]=x_in[n]+2;}"));
}

TEST_CASE("text that compiles to something else is different code") {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = original;
    return text.replace(text.find(from), from.size(), to);
  };
  CHECK(!is_same(changed("+ 2", "+ 3")));
  CHECK(!is_same(changed("+ 2", "- 2")));
  CHECK(!is_same(changed("const int*", "const long*")));
  CHECK(!is_same(changed("in[size]", "out[size]")));
  CHECK(!is_same(changed("threadIdx", "blockIdx")));
  CHECK(!is_same(changed(" + 2", "")));
  CHECK(!is_same(original + "int more;\n"));
}

TEST_CASE("a comment inside a string, or a string inside a comment, does not confuse the scan") {
  CHECK(code_without_names("auto s = \"// no comment\";") != code_without_names("auto s = \""));
  CHECK(code_without_names("f(\"a\"); // \" ' R\"(") == code_without_names("g(\"a\");"));
  CHECK(code_without_names("f(R\"x(a // b)\" )x\");") != code_without_names("f(R\"x(a)x\");"));
  CHECK(code_without_names("#define TWICE(a) a a\n") != code_without_names("#define TWICE(a) a\n"));
  CHECK(code_without_names("/* open").empty());
}

TEST_CASE("a copy is matched with its step, and with no other step of the lab") {
  const temporary_folder root(fs::temp_directory_path());
  lab l;
  for (const char* name : {"00_first", "01_second"}) {
    l.steps.push_back({name, "", {}, "", std::string(name) + ".cu"});
  }
  write_atomically(root.path() / "00_first.cu", original);
  const auto steps = texts_of_steps(root.path(), l);
  CHECK(published_step(steps, "// other words\n" + original) == "00_first");
  CHECK(published_step(steps, original + "int more;").empty());
  CHECK(published_step(steps, "// nothing").empty());
}
