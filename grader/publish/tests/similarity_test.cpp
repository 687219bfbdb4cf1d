// Tests that copies with other names and other layouts are found, and that code that all students
// were given is ignored.
#include "grader/publish/similarity.hpp"

#include <doctest/doctest.h>

#include "grader/course/same_code.hpp"

using namespace stepwise::publish;

namespace {

// A different kernel for each number. The kernels differ in their arithmetic.
std::string kernel(int number, const std::string& name = "value") {
  std::string body;
  for (int i = 0; i < 12; ++i) {
    const std::string constant = std::to_string(7 * number + 3 * i + 1);
    const char* op = (number * 5 + i * 3) % 4 == 0 ? "+" : (number + i) % 3 == 0 ? "*" : "-";
    body += "  " + name + " = (" + name + " " + op + " " + constant + ") ^ " +
            std::to_string(number + i) + ";\n";
    if ((number + i) % 2 == 0)
      body += "  if (" + name + " < " + constant + ") " + name + " += 2;\n";
  }
  return "__global__ void f(int* out) {\n  int " + name + " = threadIdx.x;\n" + body +
         "  out[threadIdx.x] = " + name + ";\n}\n";
}

const std::string skeleton =
    "void reduce(const int* in, int* out, int* scratch, int n) {\n"
    "  for (int i = 0; i < n; ++i) { out[0] += in[i] * 3 + scratch[i]; }\n}\n";

}  // namespace

TEST_CASE("a renamed and reformatted copy is found, and independent work is not") {
  std::string copy = kernel(1, "renamed_everywhere");
  for (auto at = copy.find("  "); at != std::string::npos; at = copy.find("  ", at + 9))
    copy.replace(at, 2, "\n/* x */ ");
  const auto found = compare_works(
      {{"anna", skeleton + kernel(1)}, {"bert", skeleton + copy}, {"carl", skeleton + kernel(4)}},
      {fingerprints_of(skeleton), {}});
  REQUIRE(found.pairs.size() == 1);
  CHECK(found.pairs[0].a == "anna");
  CHECK(found.pairs[0].b == "bert");
  CHECK(found.pairs[0].share > 0.9);
  CHECK(!found.pairs[0].same_text);
}

TEST_CASE("handed-out and published code does not count as similar") {
  const given_code given{fingerprints_of(skeleton), {{"03_step", fingerprints_of(kernel(2))}}};
  const auto found = compare_works({{"anna", skeleton},
                                    {"bert", skeleton},
                                    {"carl", skeleton + kernel(2)},
                                    {"dora", skeleton + kernel(2, "other")},
                                    {"emil", skeleton + kernel(2).substr(0, 300)}},
                                   given);
  CHECK(found.pairs.empty());
  REQUIRE(found.to_steps.size() == 3);
  for (const auto& one : found.to_steps) {
    CHECK(one.b == "03_step");
    CHECK(one.share > 0.75);  // emil's copy has runs that begin in the skeleton
  }
}

TEST_CASE("a copied part of a larger file is found") {
  const auto found = compare_works(
      {{"anna", kernel(1)}, {"bert", kernel(3) + kernel(1, "other") + kernel(5)}}, {});
  REQUIRE(found.pairs.size() == 1);
  CHECK(found.pairs[0].share > 0.8);
  CHECK(fingerprints_of("").empty());
  CHECK(fingerprints_of("int x;").empty());
}
