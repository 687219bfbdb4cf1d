// Tests the L1 size of each generation, and how much of that size shared memory takes.
#include "common/device/memory_rules.hpp"

#include <doctest/doctest.h>

using namespace stepwise;

namespace {

constexpr std::uint64_t kb = 1024;
gpu model(const char* id) { return *find_gpu(id); }

}  // namespace

TEST_CASE("the shared-memory carve-out has one of the sizes that the GPU offers") {
  CHECK(shared_carveout(model("h200"), 0) == 0);
  CHECK(shared_carveout(model("h200"), 8 * kb) == 8 * kb);
  CHECK(shared_carveout(model("h200"), 8 * kb + 1) == 16 * kb);
  CHECK(shared_carveout(model("h200"), 200 * kb) == 228 * kb);
  CHECK(shared_carveout(model("t4"), 0) == 32 * kb);
  CHECK(shared_carveout(model("t4"), 33 * kb) == 64 * kb);
  CHECK(shared_carveout(model("gtx980"), 1) == 96 * kb);
}

TEST_CASE("L1 is the rest of the on-chip memory, or has its own memory") {
  CHECK(l1_bytes_beside(model("h200"), 0, 1) ==
        248 * kb);  // the system reserves 1 KB, so 8 KB are set aside
  CHECK(l1_bytes_beside(model("h200"), 227 * kb, 1) == 28 * kb);
  CHECK(l1_bytes_beside(model("a100"), 0, 1) == 184 * kb);
  CHECK(l1_bytes_beside(model("rtx4090"), 40 * kb, 1) == 64 * kb);
  CHECK(l1_bytes_beside(model("t4"), 4 * kb, 4) == 64 * kb);
  CHECK(l1_bytes_beside(model("gtx980"), 40 * kb, 2) == 24 * kb);
  CHECK(l1_bytes_beside(model("k20x"), 0, 1) == 48 * kb);
  CHECK(l1_bytes_beside(model("gtx460"), 0, 1) == 16 * kb);
  CHECK(l1_bytes_beside(model("gtx280"), 0, 1) == 0);
}

TEST_CASE("every described GPU has the rules of its generation") {
  for (const auto& id : known_gpus()) {
    CAPTURE(id);
    const gpu g = model(id.c_str());
    const memory_rules r = memory_rules_of(g);
    CHECK(r.half_warps == (g.compute_major == 1));
    CHECK(r.has_l2 == (g.compute_major > 1));
    CHECK((r.bank_bytes == 8) == (g.compute_major == 3));
    CHECK(r.l1_keeps_loads == (g.compute_major == 2 || g.compute_major >= 7));
    CHECK(r.are_todays() == (g.compute_major >= 7));
    CHECK(r.l2_halves == (g.compute_capability() == 80 || g.compute_capability() == 90 ? 2 : 1));
  }
}
