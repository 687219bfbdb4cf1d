// Tests what `lab play` draws for one instruction of a warp.
#include "grader/cli/recorded/frame.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace stepwise;
using namespace stepwise::cli;

namespace {

// One instruction without an access, and a load of shared memory by all lanes, `stride` words
// apart.
warp_recording loads(std::uint64_t stride) {
  warp_recording r;
  r.instructions.resize(2);
  r.instructions[0].ptx = "add.s32 %r1, %r2, %r3";
  r.instructions[1].ptx = "ld.shared.u32 %r4, [%r1]";
  warp_recording::step add, load;
  add.mask = add.active = load.mask = load.active = ~0u;
  load.instruction = 1;
  warp_recording::access a;
  a.kind = "load";
  a.space = "shared";
  a.lanes = ~0u;
  a.bytes = 4;
  for (std::uint64_t lane = 0; lane < 32; ++lane) a.at.of[lane] = 4 * stride * lane;
  a.taken = static_cast<unsigned>(stride);
  a.ideal = 1;
  load.accesses = {a};
  r.steps = {add, load, add};
  return r;
}

const cell* line_with(const std::vector<cell>& lines, const char* text) {
  const auto found = std::ranges::find_if(
      lines, [&](const cell& c) { return c.text.find(text) != std::string::npos; });
  return found == lines.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("a frame shows the rows of shared memory, and how many words each bank delivers") {
  const auto even = frame_lines(loads(1), 1, false, {});
  const cell* banks = line_with(even, "banks ");
  REQUIRE(banks != nullptr);
  CHECK(banks->text == "banks   11111111 11111111 11111111 11111111");
  CHECK(banks->t == tone::good);
  CHECK(line_with(even, "     0  ######## ######## ######## ########") != nullptr);
  const auto conflict = frame_lines(loads(2), 1, false, {});
  banks = line_with(conflict, "banks ");
  REQUIRE(banks != nullptr);
  CHECK(banks->text.starts_with("banks   2.2.2.2. "));
  CHECK(banks->text.ends_with("up to 2 words in a bank"));
  CHECK(banks->t == tone::bad);
  CHECK(line_with(conflict, "   128  #.#.#.#. ") != nullptr);
}

TEST_CASE("a frame fits its screen, whatever is accessed") {
  for (const std::uint64_t stride : {1, 32, 33})
    for (const screen on : {screen{80, 24}, screen{60, 20}, screen{40, 10}}) {
      const auto lines = frame_lines(loads(stride), 1, true, on);
      CHECK(lines.size() + 3 <= on.rows);
      for (const cell& line : lines) CHECK(line.text.size() <= on.columns);
    }
}

TEST_CASE("the next access, and the next one that costs more than it must") {
  const warp_recording cheap = loads(1), costly = loads(4);
  CHECK(next_access(cheap, 0, false) == 1);
  CHECK(next_access(cheap, 0, true) == cheap.steps.size());
  CHECK(next_access(costly, 0, true) == 1);
  CHECK(next_access(costly, 1, true) == costly.steps.size());
}
