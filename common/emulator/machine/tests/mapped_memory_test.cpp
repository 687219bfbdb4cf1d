// Memory that is mapped separately from its addresses: reservations, pieces, mappings, and refused
// calls.
#include "common/emulator/mapped_memory.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

using namespace stepwise;
using namespace stepwise::emulator;

namespace mapped_memory_test {
namespace {

constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30, step = std::uint64_t{2} << 20;

struct fixture {
  global_memory memory{gigabyte};
  int changes = 0;
  mapped_memory mapped{memory, [this](const mapped_memory::change& what) {
                         ++changes;
                         return what();
                       }};

  std::uint64_t range(std::uint64_t bytes, std::uint64_t alignment = 0, std::uint64_t wanted = 0) {
    const auto made = mapped.reserve(bytes, alignment, wanted);
    REQUIRE(made.ok());
    return *made;
  }
  memory_piece piece(std::uint64_t bytes) {
    const auto made = mapped.create(bytes);
    REQUIRE(made.ok());
    return *made;
  }
  bool is_refused(const status& s) const { return s.code == error::invalid_value; }
  status allow(std::uint64_t at, std::uint64_t bytes) {
    return mapped.set_access(at, bytes, memory_access::read_write);
  }
};

TEST_CASE("ranges are taken from the end of a hole, or at a wanted address") {
  free_ranges free;
  free.give_back(64, 64);
  free.give_back(1000, 100);
  CHECK(free.take_last(50, 1) == 1050);
  CHECK(free.take_last(20, 64) == 1024);
  CHECK(free.take_last(200, 1) == std::nullopt);
  CHECK_FALSE(free.take_at(1020, 10));
  CHECK(free.take_at(1000, 24));
  CHECK_FALSE(free.take_at(1000, 1));
  CHECK_FALSE(free.take_at(0, 64));
  CHECK_FALSE(free.take_at(100, 64));
  CHECK(free.take_at(70, 10));
  CHECK(free.take(48, 1) == 80);
  CHECK(free.take(6, 1) == 64);
  free.give_back(64, 6);
  free.give_back(80, 48);
  free.give_back(70, 10);
  CHECK(free.take(64, 64) == 64);
}

TEST_CASE_FIXTURE(fixture, "a piece is memory only where it is mapped and accessible") {
  const std::uint64_t at = range(4 * step);
  CHECK(at % step == 0);
  CHECK_FALSE(memory.find(at).has_value());
  const memory_piece one = piece(step);
  CHECK(memory.free_bytes() == gigabyte - step);
  CHECK(mapped.map(at + step, step, one).ok());
  CHECK_FALSE(memory.find(at + step).has_value());
  CHECK(*mapped.access_at(at + step) == memory_access::none);
  CHECK(allow(at + step, step).ok());
  CHECK(memory.find(at + 2 * step - 1)->base == at + step);
  CHECK_FALSE(memory.find(at + step - 1).has_value());
  CHECK_FALSE(memory.find(at + 2 * step).has_value());
  CHECK(*mapped.access_at(at + step + 5) == memory_access::read_write);
  CHECK_FALSE(memory.is_shared(at + step));
  CHECK_FALSE(memory.free(at + step));
  CHECK(mapped.set_access(at + step, step, memory_access::none).ok());
  CHECK_FALSE(memory.find(at + step).has_value());
  CHECK(mapped.unmap(at + step, step).ok());
  CHECK(changes == 3);
  CHECK(memory.free_bytes() == gigabyte - step);
  CHECK(mapped.release(one).ok());
  CHECK(memory.free_bytes() == gigabyte);
  CHECK(mapped.unreserve(at, 4 * step).ok());
}

TEST_CASE_FIXTURE(fixture, "copies treat adjacent mappings as one area") {
  const std::uint64_t at = range(3 * step);
  const memory_piece a = piece(step), b = piece(2 * step);
  REQUIRE(mapped.map(at, step, a).ok());
  REQUIRE(mapped.map(at + step, 2 * step, b).ok());
  CHECK(allow(at, 3 * step).ok());
  CHECK(memory.contains(at, 3 * step));
  CHECK(memory.contains(at + step - 1, 2));
  CHECK_FALSE(memory.contains(at, 3 * step + 1));
  std::memset(memory.host(at), 7, 3 * step);
  CHECK(mapped.set_access(at, step, memory_access::none).ok());
  CHECK_FALSE(memory.contains(at + step - 1, 2));
  CHECK(memory.contains(at + step, 2 * step));
  CHECK(mapped.unmap(at, 3 * step).ok());
}

TEST_CASE_FIXTURE(fixture, "a piece has the same bytes wherever it is mapped, and new ones are 0") {
  const std::uint64_t a = range(step), b = range(step);
  memory_piece one = piece(step);
  REQUIRE(mapped.map(a, step, one).ok());
  REQUIRE(mapped.map(b, step, one).ok());
  REQUIRE(allow(a, step).ok());
  *memory.host(a + 100) = std::byte{5};
  CHECK(*memory.host(b + 100) == std::byte{5});
  CHECK(mapped.unmap(a, step).ok());
  CHECK(*memory.host(b + 100) == std::byte{5});
  const auto again = mapped.retain(b + 7);
  REQUIRE(again.ok());
  CHECK(*again == one);
  CHECK(mapped.release(one).ok());
  CHECK(mapped.has(one));
  CHECK(mapped.release(one).ok());
  CHECK_FALSE(mapped.has(one));
  CHECK(is_refused(mapped.release(one)));
  CHECK(is_refused(mapped.map(a, step, one)));
  // The piece is still mapped, so it can get a handle again.
  CHECK(mapped.retain(b).ok());
  CHECK(mapped.release(one).ok());
  CHECK(*memory.host(b + 100) == std::byte{5});
  CHECK(mapped.unmap(b, step).ok());
  CHECK(memory.free_bytes() == gigabyte);
  one = piece(step);
  REQUIRE(mapped.map(b, step, one).ok());
  CHECK(*memory.host(b + 100) == std::byte{0});
}

TEST_CASE_FIXTURE(fixture, "reservations respect the wanted address and the alignment") {
  const std::uint64_t at = range(4 * step);
  REQUIRE(mapped.unreserve(at, 4 * step).ok());
  CHECK(range(step, 0, at + step) == at + step);
  CHECK(range(step, 0, at + step) != at + step);
  CHECK(range(step, 0, at + 2 * step) == at + 2 * step);
  CHECK(range(step, 64 * step) % (64 * step) == 0);
  CHECK(mapped.reserve(64 * gigabyte, 0, 0).failure().code == error::memory_allocation);
}

TEST_CASE_FIXTURE(fixture, "ordinary allocations use all addresses that were unmapped") {
  std::vector<std::uint64_t> ranges;
  for (;;) {
    const auto at = mapped.reserve(64 * step, 0, 0);
    if (!at.ok()) break;
    ranges.push_back(*at);
  }
  const memory_piece one = piece(64 * step);
  for (const std::uint64_t at : ranges) {
    REQUIRE(mapped.map(at, 64 * step, one).ok());
    REQUIRE(allow(at, 64 * step).ok());
  }
  // First the middle range, then one below and one above it.
  const std::uint64_t middle = ranges[ranges.size() / 2];
  for (const std::uint64_t at : {middle, ranges.front(), ranges.back()}) {
    REQUIRE(mapped.unmap(at, 64 * step).ok());
    REQUIRE(mapped.unreserve(at, 64 * step).ok());
    while (true) {
      const auto made = memory.allocate(9 << 20);
      if (!made.ok()) break;
      std::memset(memory.host(*made), 3, 9 << 20);
    }
  }
  for (const std::uint64_t at : ranges)
    if (memory.find(at) && mapped.access_at(at).ok()) CHECK(*memory.host(at) == std::byte{0});
}

TEST_CASE_FIXTURE(fixture, "the checks treat a mapping as an allocation, unwritten at first") {
  checker checks(*find_gpu("h200"), memory);
  mapped.set_checker(checks);
  const std::uint64_t a = range(step), b = range(step);
  const memory_piece one = piece(step);
  REQUIRE(mapped.map(a, step, one).ok());
  bool freed = false;
  CHECK(checks.object_at(a + 4, freed).bytes == 0);
  REQUIRE(allow(a, step).ok());
  CHECK(checks.object_at(a + 4, freed).bytes == step);
  CHECK_FALSE(freed);
  const auto unwritten_at = [&](std::uint64_t at) {
    checks.copied_to_host(at, 256);
    const auto found = checks.take(false);
    return !found.empty() && found[0].kind == finding_kind::unwritten_copy;
  };
  CHECK(unwritten_at(a));
  // A second mapping makes the whole piece count as written.
  REQUIRE(mapped.map(b, step, one).ok());
  REQUIRE(allow(b, step).ok());
  CHECK_FALSE(unwritten_at(b));
  CHECK_FALSE(unwritten_at(a + 1024));
  REQUIRE(mapped.unmap(a, step).ok());
  CHECK(checks.object_at(a + 4, freed).bytes == step);
  CHECK(freed);
  const auto left = checks.take(true);
  REQUIRE(left.size() == 1);
  CHECK(left[0].kind == finding_kind::leak);
  CHECK(left[0].message == "2097152 bytes of mapped memory were not unmapped");
}

TEST_CASE_FIXTURE(fixture, "a refused call changes nothing") {
  CHECK(is_refused(mapped.reserve(0, 0, 0).failure()));
  CHECK(is_refused(mapped.reserve(step + 1, 0, 0).failure()));
  CHECK(is_refused(mapped.reserve(step, 3, 0).failure()));
  CHECK(is_refused(mapped.create(0).failure()));
  CHECK(is_refused(mapped.create(step - 1).failure()));
  CHECK(mapped.create(2 * gigabyte).failure().code == error::memory_allocation);
  const std::uint64_t at = range(4 * step);
  const memory_piece one = piece(2 * step);
  CHECK(is_refused(mapped.map(at - step, step, one)));
  CHECK(is_refused(mapped.map(at + 3 * step, 2 * step, one)));
  CHECK(is_refused(mapped.map(at + 4 * step, step, one)));
  CHECK(mapped.map(at, 3 * step, one).code == error::not_supported);
  CHECK(is_refused(mapped.map(at + 1, step, one)));
  CHECK(is_refused(mapped.map(at, 0, one)));
  CHECK(is_refused(mapped.map(at, step, memory_piece{99})));
  CHECK(mapped.map(at + step, 2 * step, one).ok());
  CHECK(is_refused(mapped.map(at, 2 * step, one)));
  CHECK(is_refused(mapped.map(at + 2 * step, step, one)));
  CHECK(is_refused(allow(at, step)));
  CHECK(is_refused(allow(at + step, step)));
  CHECK(is_refused(allow(at + step, 3 * step)));
  CHECK(is_refused(allow(at + step, 0)));
  CHECK(is_refused(mapped.unmap(at + step, step)));
  CHECK(is_refused(mapped.unmap(at + 2 * step, step)));
  CHECK(is_refused(mapped.unreserve(at, 4 * step)));
  CHECK(is_refused(mapped.access_at(at).failure()));
  CHECK(is_refused(mapped.retain(at + 3 * step).failure()));
  CHECK(mapped.unmap(at + step, 2 * step).ok());
  CHECK(mapped.unmap(at + step, 2 * step).ok());  // nothing is mapped there
  CHECK(is_refused(mapped.unmap(at + step, 1)));
  CHECK(is_refused(mapped.unreserve(at, step)));
  CHECK(is_refused(mapped.unreserve(at + step, step)));
  CHECK(mapped.unreserve(at, 4 * step).ok());
  CHECK(is_refused(mapped.unreserve(at, 4 * step)));
}

}  // namespace
}  // namespace mapped_memory_test
