// Tests where the paths of a branch meet.
#include "common/ptx/flow.hpp"

#include <doctest/doctest.h>

#include <chrono>

using stepwise::emulator::immediate_post_dominators;
using stepwise::emulator::no_block;
using list = std::vector<std::uint32_t>;

namespace {

TEST_CASE("if and else meet after both") {
  CHECK(immediate_post_dominators({{1, 2}, {3}, {3}, {}}) == list{3, 3, 3, no_block});
}

TEST_CASE("a loop's lanes reconverge after it") {
  // 0 -> 1 (head) -> 2 (body) -> 1, 1 -> 3
  CHECK(immediate_post_dominators({{1}, {2, 3}, {1}, {}}) == list{1, 3, 1, no_block});
}

TEST_CASE("nested branches meet inside before outside") {
  // 0 -> {1, 5}; 1 -> {2, 3}; 2 -> 4; 3 -> 4; 4 -> 5
  CHECK(immediate_post_dominators({{1, 5}, {2, 3}, {4}, {4}, {5}, {}}) ==
        list{5, 4, 4, 4, 5, no_block});
}

TEST_CASE("paths with separate ends do not reconverge") {
  CHECK(immediate_post_dominators({{1, 2}, {}, {}}) == list{no_block, no_block, no_block});
}

TEST_CASE("an endless loop has no meeting point, and does no harm") {
  // Block 1 runs forever. The other blocks end.
  CHECK(immediate_post_dominators({{1, 2}, {1}, {}})[1] == no_block);
}

TEST_CASE("the paths of a loop with two exits meet where both exits lead") {
  // 0 -> {1, 3}; 1 -> {0, 2}; 2 -> 3
  CHECK(immediate_post_dominators({{1, 3}, {0, 2}, {3}, {}}) == list{3, 3, 3, no_block});
}

// An algorithm that walks up the tree at every edge takes a quarter of a minute for this chain.
TEST_CASE(
    "the time for a long chain of blocks that all branch to its start does not grow as its "
    "square") {
  const std::uint32_t blocks = 60000;
  std::vector<list> successors(blocks);
  for (std::uint32_t n = 0; n + 1 < blocks; ++n) successors[n] = {n + 1, 0};
  const auto start = std::chrono::steady_clock::now();
  const list meets = immediate_post_dominators(successors);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  REQUIRE(meets.size() == blocks);
  CHECK(meets[0] == 1);
  CHECK(meets[blocks - 2] == blocks - 1);
  CHECK(meets[blocks - 1] == no_block);
}

}  // namespace
