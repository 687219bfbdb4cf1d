// The host's registered memory, as kernels see it.
#include "common/emulator/machine/registered.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "common/emulator/machine/memory.hpp"

using namespace stepwise::emulator;

namespace registered_test {

constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30;

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

#ifndef __SANITIZE_THREAD__  // its runtime uses the mirrors' addresses
TEST_CASE("a kernel sees registered memory at its address, and the host sees its changes") {
  global_memory memory(gigabyte);
  std::vector<char> host(300'000, 5);
  const std::uint64_t first = address_of(host.data());
  CHECK_FALSE(memory.find(first).has_value());
  REQUIRE(memory.registered().add(first, host.size()));
  for (const std::uint64_t at : {first, first + 150'000, first + 299'999}) {
    const auto found = memory.find(at);
    REQUIRE(found.has_value());
    CHECK(found->base <= at);
    CHECK(at - found->base < found->bytes);
    CHECK(static_cast<int>(memory.host(at)[0]) == 5);
    memory.host(at)[0] = std::byte{9};
  }
  CHECK_FALSE(memory.find(first + 300'000).has_value());
  CHECK_FALSE(memory.find(first - 1).has_value());
  CHECK_FALSE(memory.allocation_at(first).has_value());
  host[1] = 6;  // meanwhile, another thread writes
  CHECK(host[0] == 5);
  memory.registered().write_back();
  CHECK(host[0] == 9);
  CHECK(host[1] == 6);
  CHECK(host[150'000] == 9);
  CHECK(host[299'999] == 9);
  // The next kernel sees what the host wrote.
  host[2] = 7;
  REQUIRE(memory.find(first + 2).has_value());
  CHECK(static_cast<int>(memory.host(first + 2)[0]) == 7);
  CHECK(memory.registered().remove(first));
  CHECK_FALSE(memory.registered().remove(first));
  CHECK_FALSE(memory.find(first).has_value());
}

TEST_CASE("registered areas may share pages, but must not overlap") {
  global_memory memory(gigabyte);
  registered_memory& registered = memory.registered();
  std::vector<char> host(5 * 4096, 1);
  const std::uint64_t at = address_of(host.data());
  REQUIRE(registered.add(at + 100, 100));
  REQUIRE(registered.add(at + 300, 8000));
  REQUIRE(registered.add(at + 200, 100));
  CHECK_FALSE(registered.add(at + 250, 10));
  CHECK_FALSE(registered.add(at, 101));
  CHECK_FALSE(registered.add(at + 150, 1000));
  const auto works = [&](std::uint64_t address) {
    if (!memory.find(address)) return false;
    memory.host(address)[0] = std::byte{2};
    registered.write_back();
    return *reinterpret_cast<char*>(address) == 2;
  };
  CHECK(works(at + 100));
  CHECK(works(at + 299));
  CHECK(works(at + 8299));
  CHECK_FALSE(works(at + 8300));
  CHECK(registered.remove(at + 100));
  CHECK(works(at + 200));
  CHECK(registered.remove(at + 300));
  CHECK(works(at + 201));
  CHECK(registered.add(at + 300, 8000));
  CHECK(works(at + 4000));
  CHECK(registered.remove(at + 200));
  CHECK(works(at + 4001));
  // Memory in the device's own ranges cannot be registered.
  const auto pinned = memory.allocate_shared(100);
  REQUIRE(pinned.ok());
  CHECK_FALSE(registered.add(*pinned, 100));
}
#endif

}  // namespace registered_test
