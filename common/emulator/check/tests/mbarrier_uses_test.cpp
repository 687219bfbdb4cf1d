// Tests which waits count as idle, and which phase and bytes of an mbarrier are known.
#include "common/emulator/check/async/mbarrier_uses.hpp"

#include <doctest/doctest.h>

#include "common/emulator/machine/async.hpp"

using namespace stepwise::emulator;
using use = observer::mbarrier_use;

namespace {

constexpr std::uint64_t full = 64, empty = 72;

// One warp uses mbarriers. Phases end as the test says.
struct used_mbarriers {
  used_mbarriers() { uses.begin_block(1); }

  void note(use what, std::uint64_t barrier, int lane, tick now, std::int64_t bytes = 0) {
    const std::uint64_t word = word_of(barrier);
    uses.note({what, lane, barrier, &word, bytes}, barrier, 0, now);
  }
  void end_phase(std::uint64_t barrier) { ++phases[barrier == full ? 0 : 1]; }
  std::uint64_t word_of(std::uint64_t barrier) const {
    return std::uint64_t{phases[barrier == full ? 0 : 1] & 1} << mbarrier_parity_at;
  }
  const mbarrier_uses::idle_waits* before(int lane, tick when) const {
    return uses.before(0, lane, when);
  }

  mbarrier_uses uses;
  unsigned phases[2] = {};
};

}  // namespace

TEST_CASE("a wait is idle if no phase has ended yet, or none since the thread's previous wait") {
  used_mbarriers all;
  all.note(use::passes, full, 3, 10);
  REQUIRE(all.before(3, 10) != nullptr);
  CHECK(!all.before(3, 10)->is_repeated);
  CHECK(all.before(3, 10)->barrier == full);
  CHECK(all.before(3, 9) == nullptr);
  CHECK(all.before(4, 10) == nullptr);
  all.end_phase(full);
  all.note(use::passes, full, 3, 20);  // sees the end of the first phase
  CHECK(all.before(3, 20) == nullptr);
  CHECK(all.before(3, 19) != nullptr);
  all.note(use::passes, full, 3, 30);
  REQUIRE(all.before(3, 30) != nullptr);
  CHECK(all.before(3, 30)->is_repeated);
  CHECK(all.before(3, 20) == nullptr);
}

TEST_CASE("another thread's wait and another mbarrier do not make a wait idle") {
  used_mbarriers all;
  all.end_phase(full);
  all.end_phase(empty);
  all.note(use::arrives, full, 0, 5);
  all.note(use::passes, full, 0, 10);
  all.note(use::passes, full, 1, 11);
  all.note(use::passes, empty, 0, 12);
  CHECK(all.before(0, 20) == nullptr);
  CHECK(all.before(1, 20) == nullptr);
}

TEST_CASE("a phase counts the bytes that were announced and received in it") {
  used_mbarriers all;
  all.note(use::arrives, full, 0, 1, 512);
  all.note(use::receives, full, 0, 2, 128);
  all.note(use::expects, full, 0, 3, 64);
  const auto first = all.uses.at(full, all.word_of(full));
  CHECK(first.number == 0);
  CHECK(first.announced == 576);
  CHECK(first.received == 128);
  all.end_phase(full);
  CHECK(all.uses.at(full, all.word_of(full)).announced == 0);
  all.note(use::passes, full, 0, 4);
  const auto second = all.uses.at(full, all.word_of(full));
  CHECK(second.number == 1);
  CHECK(second.seen == 1);
  all.note(use::begins, full, 0, 5);
  CHECK(all.uses.at(full, 0).number == 0);
}
