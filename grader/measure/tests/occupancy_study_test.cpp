// The curves, and the smallest changes that allow more resident blocks.
#include "grader/measure/occupancy_study.hpp"

#include <doctest/doctest.h>

using namespace stepwise;

namespace {

occupancy_study study(const char* gpu, std::uint64_t threads, std::uint64_t registers,
                      std::uint64_t shared) {
  const auto found = study_occupancy(*find_gpu(gpu), threads, registers, shared);
  REQUIRE(found.ok());
  return *found;
}

}  // namespace

TEST_CASE("the curves pass through the given block") {
  const auto s = study("gt430", 256, 25, 0);
  CHECK(s.warps() == 32);
  CHECK(s.most_warps() == 48);
  REQUIRE(s.by_threads.size() == 32);
  CHECK(s.by_threads[7].at == 256);
  CHECK(s.by_threads[7].warps == 32);
  REQUIRE(s.by_registers.size() == 63);
  CHECK(s.by_registers[24].at == 25);
  CHECK(s.by_registers[24].warps == 32);
  CHECK(s.by_registers[19].warps == 48);
  CHECK(s.by_shared.front().warps == 32);
  CHECK(s.by_shared.back().at == 49152);
  CHECK(s.by_shared.back().warps == 8);
}

TEST_CASE("a gain is the smallest change of one number") {
  const auto s = study("gt430", 256, 25, 0);
  REQUIRE(s.gains.size() == 2);
  CHECK(s.gains[0].what == occupancy_gain::by::registers);
  CHECK(s.gains[0].to == 24);
  CHECK(s.gains[0].warps == 40);
  CHECK(s.gains[1].what == occupancy_gain::by::threads);
  CHECK(s.gains[1].warps > 32);
  // With 33,000 bytes, 6 blocks fit into an H200's 228 KB. With at most 32,256 bytes, 7 blocks fit.
  // The reserved kilobyte of each block is not included.
  const auto t = study("h200", 256, 16, 33000);
  CHECK(t.room.blocks() == 6);
  REQUIRE(!t.gains.empty());
  CHECK(t.gains[0].what == occupancy_gain::by::shared);
  CHECK(room_for(t.model, {256, 16, t.gains[0].to, t.block.most_shared})->blocks() == 7);
  CHECK(room_for(t.model, {256, 16, t.gains[0].to + 128, t.block.most_shared})->blocks() == 6);
  CHECK(study("h200", 256, 16, 0).gains.empty());
}

TEST_CASE("an impossible block is not an error, but none of it is resident") {
  CHECK(study("h200", 2048, 16, 0).warps() == 0);
  CHECK(study("h200", 1024, 128, 0).warps() == 0);
  CHECK(!study_occupancy(*find_gpu("h200"), 0, 16, 0).ok());
}
