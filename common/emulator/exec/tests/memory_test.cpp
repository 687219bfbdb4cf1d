// Global memory: allocation, reuse, lookup, and what is refused.
#include "common/emulator/exec/memory.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cstring>

using namespace stepwise;
using emulator::global_memory;

namespace {

constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30;

TEST_CASE("allocations are aligned, apart, and found by any address inside") {
  global_memory memory(gigabyte);
  const auto a = memory.allocate(1000), b = memory.allocate(1);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(*a % 256 == 0);
  CHECK(*b % 256 == 0);
  CHECK(*b >= *a + 1000 + 256);
  CHECK(memory.find(*a + 999)->base == *a);
  CHECK_FALSE(memory.find(*a + 1000).has_value());
  CHECK_FALSE(memory.find(*a - 1).has_value());
  CHECK(memory.contains(*a + 996, 4));
  CHECK_FALSE(memory.contains(*a + 997, 4));
  CHECK(memory.before(*a + 1200)->base == *a);
}

TEST_CASE("bytes written at a host address are the allocation's") {
  global_memory memory(gigabyte);
  const auto a = memory.allocate(64);
  REQUIRE(a.ok());
  std::memset(memory.host(*a), 7, 64);
  CHECK(static_cast<int>(memory.host(*a + 63)[0]) == 7);
  CHECK(reinterpret_cast<std::uint64_t>(memory.host(*a)) != *a);
}

TEST_CASE("free takes only what was given, once, and its room is used again") {
  global_memory memory(gigabyte);
  const auto a = memory.allocate(512 << 20);
  REQUIRE(a.ok());
  CHECK_FALSE(memory.free(*a + 256));
  CHECK(memory.free_bytes() == gigabyte - (512u << 20));
  CHECK(memory.free(*a));
  CHECK_FALSE(memory.free(*a));
  CHECK(memory.free_bytes() == gigabyte);
  for (int k = 0; k < 100; ++k) {
    const auto again = memory.allocate(900 << 20);
    REQUIRE(again.ok());
    CHECK(memory.free(*again));
  }
}

TEST_CASE("neighbouring holes become one") {
  global_memory memory(gigabyte);
  const auto a = memory.allocate(256 << 20), b = memory.allocate(256 << 20);
  const auto c = memory.allocate(256 << 20);
  REQUIRE(c.ok());
  CHECK(memory.free(*a));
  CHECK(memory.free(*c));
  CHECK(memory.free(*b));
  const auto all = memory.allocate(1000 << 20);
  REQUIRE(all.ok());
  CHECK(*all == *a);
}

TEST_CASE("a limit on address space leaves a smaller memory, not a failure") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit small = before;
  small.rlim_cur = std::uint64_t{8} << 30;
  REQUIRE(setrlimit(RLIMIT_AS, &small) == 0);
  {
    global_memory memory(141 * gigabyte);
    CHECK(memory.allocate(1 << 20).ok());
    CHECK(memory.allocate(20 * gigabyte).failure().code == error::memory_allocation);
  }
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
}

TEST_CASE("nothing and too much are refused with a reason") {
  global_memory memory(gigabyte);
  CHECK(memory.allocate(0).failure().code == error::invalid_value);
  const auto huge = memory.allocate(gigabyte + 1);
  CHECK(huge.failure().code == error::memory_allocation);
  CHECK(huge.failure().message.find("bytes are free") != std::string::npos);
}

}  // namespace
