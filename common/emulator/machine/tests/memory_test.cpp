// Global memory: allocation, reuse, lookup, and refused calls.
#include "common/emulator/machine/memory.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

using namespace stepwise;
using emulator::global_memory;

namespace {

constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30;

TEST_CASE("allocations are aligned and separate, and any address inside finds them") {
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

TEST_CASE("addresses are the same in every run") {
  std::uint64_t first = 0;
  for (int k = 0; k < 3; ++k) {
    // Represents mappings at random addresses, which differ from run to run.
    void* const other =
        mmap(nullptr, gigabyte << k, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(other != MAP_FAILED);
    {
      global_memory memory(gigabyte);
      if (k == 0)
        first = *memory.allocate(1000);
      else
        CHECK(*memory.allocate(1000) == first);
    }
    {
      global_memory one(gigabyte), another(gigabyte);
      CHECK(one.device_base() != another.device_base());
    }
    // The mapping stays, so that the next one lies elsewhere.
  }
}

TEST_CASE("freed memory is reused late, but before memory runs out") {
  global_memory memory(gigabyte);
  const auto a = memory.allocate(1000);
  REQUIRE(a.ok());
  CHECK(memory.free(*a));
  for (int k = 0; k < 20; ++k) CHECK(*memory.allocate(1000) != *a);
  CHECK_FALSE(memory.find(*a).has_value());
  for (int k = 0; k < 200; ++k) {
    const auto large = memory.allocate(gigabyte / 2);
    REQUIRE(large.ok());
    CHECK(memory.free(*large));
  }
}

TEST_CASE("bytes written at a host address belong to the allocation") {
  global_memory memory(gigabyte);
  const auto a = memory.allocate(64);
  REQUIRE(a.ok());
  std::memset(memory.host(*a), 7, 64);
  CHECK(static_cast<int>(memory.host(*a + 63)[0]) == 7);
  CHECK(reinterpret_cast<std::uint64_t>(memory.host(*a)) != *a);
}

TEST_CASE("free accepts each allocation once and by its first byte, and its room is reused") {
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

TEST_CASE("neighbouring holes merge") {
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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers need terabytes
TEST_CASE("the shortest hole with enough room is taken, and the others are not searched") {
  emulator::free_ranges holes;
  constexpr std::uint64_t count = 200000;  // quadratic time would not end
  for (std::uint64_t k = 0; k < count; ++k) holes.give_back(k * 128, 64);
  holes.give_back(count * 128, 256 * count);
  for (std::uint64_t k = 0; k < count; ++k) CHECK(holes.take(128, 128) == (count + k) * 128);
  CHECK(holes.take(64, 64) == 0);
  CHECK(holes.take(64, 128) == 128);
}

// Limits the process's address space to `more` bytes above its current use, until this object is
// destroyed. An absolute limit could be below that use: the C library keeps 64 MiB of address space
// for each of many threads that have ended.
struct limit_on_address_space {
  explicit limit_on_address_space(std::uint64_t more) {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    REQUIRE(pages > 0);
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    rlimit small = before;
    small.rlim_cur = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + more;
    REQUIRE(setrlimit(RLIMIT_AS, &small) == 0);
  }
  ~limit_on_address_space() { (void)setrlimit(RLIMIT_AS, &before); }
  limit_on_address_space(const limit_on_address_space&) = delete;
  limit_on_address_space& operator=(const limit_on_address_space&) = delete;

  rlimit before{};
};

TEST_CASE("a limit on address space results in a smaller memory, not in a failure") {
  void* const used_up =
      mmap(nullptr, 16 * gigabyte, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(used_up != MAP_FAILED);
  {
    const limit_on_address_space limit(8 * gigabyte);
    global_memory memory(141 * gigabyte);
    CHECK(memory.allocate(1 << 20).ok());
    CHECK(memory.allocate(20 * gigabyte).failure().code == error::memory_allocation);
  }
  munmap(used_up, 16 * gigabyte);
}
#endif

TEST_CASE("shared memory has the same bytes at the device's address and the host's") {
  global_memory memory(gigabyte);
  const auto before = memory.allocate(1000), a = memory.allocate_shared(5000);
  const auto b = memory.allocate_shared(1), after = memory.allocate(1);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(memory.is_shared(*a + 4999));
  CHECK_FALSE(memory.is_shared(*a + 5000));
  CHECK_FALSE(memory.is_shared(*before));
  CHECK(memory.find(*a + 4999)->base == *a);
  CHECK_FALSE(memory.find(*a + 5000).has_value());
  CHECK(*b >= *a + 5000 + 256);
  CHECK(memory.free_bytes() == gigabyte - 1001);  // shared memory is the host's
  char* const seen = reinterpret_cast<char*>(*a);
  for (int k : {0, 4096, 4999}) CHECK(seen[k] == 0);
  std::memset(memory.host(*a), 7, 5000);
  CHECK(seen[4999] == 7);
  seen[4097] = 9;
  CHECK(static_cast<int>(memory.host(*a + 4097)[0]) == 9);
  CHECK(memory.free(*after));
}

TEST_CASE("many small shared allocations are separate, and their room is reused") {
  global_memory memory(gigabyte);
  std::vector<std::uint64_t> all;
  for (int k = 0; k < 100'000; ++k) {
    const auto a = memory.allocate_shared(64);
    REQUIRE(a.ok());
    *reinterpret_cast<int*>(*a) = k;
    all.push_back(*a);
  }
  int wrong = 0;
  for (int k = 0; k < 100'000; ++k) {
    if (*reinterpret_cast<int*>(memory.host(all[k])) != k) ++wrong;
    if (!memory.is_shared(all[k]) || memory.find(all[k] + 64)) ++wrong;
  }
  CHECK(wrong == 0);
  for (const std::uint64_t a : all) REQUIRE(memory.free(a));
  CHECK_FALSE(memory.find(all[5]).has_value());
  CHECK(*memory.allocate_shared(64) == all[0]);
}

TEST_CASE("the host cannot access freed shared memory, and its room is ordinary again") {
  global_memory memory(gigabyte);
  const auto a = memory.allocate_shared(3 << 20);
  REQUIRE(a.ok());
  std::memset(reinterpret_cast<void*>(*a), 1, 3 << 20);
  CHECK(memory.free(*a));
  CHECK_FALSE(memory.free(*a));
  CHECK_FALSE(memory.find(*a).has_value());
  // Nothing can be read at the address, so write() fails.
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  CHECK(write(pipe_ends[1], reinterpret_cast<void*>(*a), 1) == -1);
  CHECK(errno == EFAULT);
  const auto again = memory.allocate(3 << 20);
  REQUIRE(again.ok());
  CHECK(*again == *a);
  CHECK(static_cast<int>(memory.host(*again)[0]) == 0);
  std::memset(memory.host(*again), 2, 3 << 20);
  CHECK(write(pipe_ends[1], reinterpret_cast<void*>(*again), 1) == -1);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  for (int k = 0; k < 1000; ++k) {
    const auto c = memory.allocate_shared(900 << 20);
    REQUIRE(c.ok());
    CHECK(memory.free(*c));
  }
  CHECK(memory.allocate_shared(2 * gigabyte).failure().code == error::memory_allocation);
  CHECK(memory.allocate_shared(UINT64_MAX).failure().code == error::memory_allocation);
}

TEST_CASE("when memory is placed as on a GPU, kernels reach every page that holds an allocation") {
  constexpr std::uint64_t page = 2 << 20;
  global_memory memory(gigabyte);
  memory.place_as_gpu();
  const auto first = memory.allocate(4), second = memory.allocate(513);
  const auto third = memory.allocate(1), large = memory.allocate(page + 1);
  const auto shared = memory.allocate_shared(8 << 20);
  REQUIRE((first.ok() && second.ok() && third.ok() && large.ok() && shared.ok()));
  CHECK(*second == *first + 512);
  CHECK(*third == *second + 1024);
  CHECK(*large % page == *first % page);
  const auto window = memory.find(*first + 4);  // past its end
  REQUIRE(window.has_value());
  CHECK(window->base == *first);
  CHECK(window->bytes == page);
  CHECK(memory.find(*first + page - 1).has_value());
  CHECK(memory.find(*large + 2 * page - 1).has_value());
  CHECK(memory.find(*shared + (8 << 20) - 1).has_value());
  CHECK(!memory.find(*first - 1).has_value());
  CHECK(!memory.allocation_at(*first + 4).has_value());
  CHECK(!memory.contains(*first, 5));
  // A page exists as long as any allocation lies in it, not only the first.
  CHECK(memory.free(*large));
  CHECK(!memory.find(*large).has_value());
  CHECK(memory.free(*first));
  CHECK(memory.free(*third));
  CHECK(memory.find(*first).has_value());
  CHECK(memory.free(*second));
  CHECK(!memory.find(*first).has_value());
}

TEST_CASE("when memory is placed as on a GPU, variables have their own pages") {
  constexpr std::uint64_t page = 2 << 20;
  global_memory memory(gigabyte);
  memory.place_as_gpu();
  const auto before = memory.allocate(4), variable = memory.allocate_variable(4);
  const auto next = memory.allocate_variable(513), large = memory.allocate_variable(page + 1);
  const auto after = memory.allocate(4);
  REQUIRE((before.ok() && variable.ok() && next.ok() && large.ok() && after.ok()));
  CHECK(*after == *before + 512);
  CHECK(*next == *variable + 512);
  CHECK(*variable / page != *before / page);
  CHECK(memory.find(*variable + page - 1).has_value());
  CHECK(memory.find(*large + page).has_value());
  CHECK(memory.total_bytes() - memory.free_bytes() == 4 + 4 + 513 + page + 1 + 4);
  // The next module's variables reuse the memory that a module leaves.
  CHECK(memory.free(*variable));
  CHECK(memory.find(*variable).has_value());
  CHECK(memory.allocate(4).ok());
  const auto again = memory.allocate_variable(512);
  REQUIRE(again.ok());
  CHECK(*again == *variable);
  CHECK(memory.allocate_variable(gigabyte).failure().code == error::memory_allocation);
}

TEST_CASE("variables are placed like any allocation where each allocation has its own bounds") {
  global_memory memory(gigabyte);
  const auto variable = memory.allocate_variable(4);
  REQUIRE(variable.ok());
  CHECK(!memory.find(*variable + 4).has_value());
  CHECK(memory.free(*variable));
  CHECK(!memory.find(*variable).has_value());
}

TEST_CASE("zero bytes and too many bytes are refused with a reason") {
  global_memory memory(gigabyte);
  CHECK(memory.allocate_shared(0).failure().code == error::invalid_value);
  CHECK(memory.allocate(0).failure().code == error::invalid_value);
  const auto huge = memory.allocate(gigabyte + 1);
  CHECK(huge.failure().code == error::memory_allocation);
  CHECK(huge.failure().message.find("bytes are free") != std::string::npos);
}

}  // namespace
