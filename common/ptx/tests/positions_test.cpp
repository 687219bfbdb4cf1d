// Tests .loc chains with golden/inlining.ptx.
#include "common/ptx/tests/golden.hpp"

namespace stepwise::ptx {
namespace {

// The chain as text, such as "3:220 warp < 2:518 block < 1:2".
std::string chain(const body& b, std::int32_t position) {
  std::string out;
  for (; position >= 0; position = b.positions[position].inlined_at) {
    const source_position& p = b.positions[position];
    if (!out.empty()) out += " < ";
    out.append(std::to_string(p.file)).append(":").append(std::to_string(p.line));
    if (!p.function.empty()) out.append(" ").append(p.function);
  }
  return out;
}

TEST_CASE("the chain of inlined calls is rebuilt") {
  const module m(golden_text("inlining"));
  const body& b = m.body_of(m.functions[0]);
  std::vector<std::string> got;
  for (const instruction& i : b.instructions) got.push_back(chain(b, i.position));
  const std::vector<std::string> expected = {
      "",
      "1:2",
      "3:220 warp < 2:518 block < 1:2",
      "3:224 warp < 2:518 block < 1:2",
      "3:143 step1 < 3:146 warp < 2:518 block < 1:2",
      "3:143 step2 < 3:146 step1 < 3:146 warp < 2:518 block < 1:2",
      "3:144 step1 < 3:146 warp < 2:518 block < 1:2",
      "3:144 step2 < 3:146 step1 < 3:146 warp < 2:518 block < 1:2",
      "9:1 ep1 < 2:518 block < 1:2",
      "1:0",
  };
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == expected[i]);
}

TEST_CASE("equal records become one position") {
  const module m(kernel_text(".loc 1 2 3\nret;\n.loc 1 4 3\nret;\n.loc 1 2 3\nret;"));
  const body& b = m.body_of(m.functions[0]);
  CHECK(b.positions.size() == 2);
  CHECK(b.instructions[2].position == b.instructions[0].position);
}

TEST_CASE("a call without a record has its own position, and a missing name is empty") {
  const module m(kernel_text(".loc 2 5 1, function_name nowhere, inlined_at 1 9 4\nret;"));
  const body& b = m.body_of(m.functions[0]);
  CHECK(chain(b, b.instructions[0].position) == "2:5 < 1:9");
}

TEST_CASE("two calls of one function from two lines keep their callers") {
  const module m(
      kernel_text(".loc 1 10 1\n.loc 2 5 1, function_name f, inlined_at 1 10 1\nret;\n"
                  ".loc 1 20 1\n.loc 2 5 1, function_name f, inlined_at 1 20 1\nret;\n"
                  ".loc 2 6 1, function_name f, inlined_at 1 10 1\nret;\n"));
  const body& b = m.body_of(m.functions[0]);
  CHECK(chain(b, b.instructions[0].position) == "2:5 < 1:10");
  CHECK(chain(b, b.instructions[1].position) == "2:5 < 1:20");
  CHECK(chain(b, b.instructions[2].position) == "2:6 < 1:10");
}

}  // namespace
}  // namespace stepwise::ptx
