// A launch that waits is left running if the caller allows it. Tests what ends such launches, and
// what the device does in the meantime.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "common/device/device.hpp"

using namespace stepwise;

namespace left_launches_test {
namespace {

using steady = std::chrono::steady_clock;

// Kernels with memory at %rd1 and a number in %r1. poll waits until word 0 equals the number.
constexpr const char* texts = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry poll(.param .u64 data, .param .u32 n)
{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [data];
ld.param.u32 %r1, [n];
again:
ld.volatile.global.u32 %r2, [%rd1];
setp.ne.u32 %p1, %r2, %r1;
@%p1 bra again;
red.global.add.u32 [%rd1+4], 1;
ret;
}
.visible .entry poll_together(.param .u64 data, .param .u32 n)
{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [data];
ld.param.u32 %r1, [n];
again:
ld.volatile.global.u32 %r2, [%rd1];
setp.ne.u32 %p1, %r2, %r1;
bar.red.or.pred %p1, 0, %p1;
@%p1 bra again;
red.global.add.u32 [%rd1+4], 1;
ret;
}
.visible .entry poll_and_fault(.param .u64 data, .param .u32 n)
{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [data];
ld.param.u32 %r1, [n];
again:
ld.volatile.global.u32 %r2, [%rd1];
setp.ne.u32 %p1, %r2, %r1;
@%p1 bra again;
st.global.u32 [0], %r2;
ret;
}
.visible .entry poll_clock(.param .u64 data, .param .u32 n)
{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [data];
ld.param.u32 %r1, [n];
mov.u64 %rd2, %clock64;
again:
ld.volatile.global.u32 %r2, [%rd1];
setp.ne.u32 %p1, %r2, %r1;
@%p1 bra again;
mov.u64 %rd3, %clock64;
sub.u64 %rd3, %rd3, %rd2;
st.global.u64 [%rd1+8], %rd3;
red.global.add.u32 [%rd1+4], 1;
ret;
}
.visible .entry add(.param .u64 data, .param .u32 n)
{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [data];
ld.param.u32 %r1, [n];
red.global.add.u32 [%rd1], %r1;
ret;
}
.visible .entry endless(.param .u64 data, .param .u32 n)
{
.reg .b32 %r<8>;
again:
add.u32 %r2, %r2, 1;
bra again;
}
.visible .entry compute(.param .u64 data, .param .u32 n)
{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [data];
ld.param.u32 %r1, [n];
mov.u32 %r2, 0;
again:
mad.lo.u32 %r3, %r3, %r1, %r2;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, %r1;
@%p1 bra again;
st.global.u32 [%rd1], %r3;
ret;
}
)";

struct fixture {
  std::unique_ptr<device> on;
  module_handle module;
  device_address data;

  fixture() {
    on = make_emulated_device(*find_gpu("h200"));
    on->extras().waiting->leave_waiting_launches(true);
    module = *on->load_module(std::as_bytes(std::span(texts, std::strlen(texts))));
    data = *on->allocate(64);
    REQUIRE(on->fill(data, 0, 4, 16).ok());
  }
  status launch(const char* name, std::uint32_t n, unsigned blocks = 1, unsigned threads = 32) {
    const auto kernel = on->find_kernel(module, name);
    REQUIRE(kernel.ok());
    const struct {
      std::uint64_t data;
      std::uint32_t n;
    } parameters{data, n};
    return on->launch(*kernel, {{blocks, 1, 1}, {threads, 1, 1}, 0, false},
                      std::as_bytes(std::span(&parameters, 1)));
  }
  std::uint32_t word(int n) {
    std::uint32_t value = 0;
    REQUIRE(on->read(std::as_writable_bytes(std::span(&value, 1)), data + 4 * n).ok());
    return value;
  }
  void set(std::uint32_t value) {
    REQUIRE(on->write(data, std::as_bytes(std::span(&value, 1))).ok());
  }
  // Whether the launch ends within a few seconds.
  bool ends(std::uint64_t launch) {
    const auto began = steady::now();
    while (on->extras().waiting->runs(launch)) {
      if (steady::now() - began > std::chrono::seconds(20)) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
};

TEST_CASE_FIXTURE(fixture, "a launch that polls is left running, and ends when the host lets it") {
  CHECK(on->extras().waiting->left_launch() == 0);
  REQUIRE(launch("poll", 7, 40).ok());
  const auto number = on->extras().waiting->left_launch();
  REQUIRE(number != 0);
  CHECK(on->extras().waiting->runs(number));
  CHECK(on->extras().waiting->running_kernels() == "poll");
  CHECK(on->synchronize().ok());
  CHECK(word(1) == 0);
  CHECK(on->extras().counting->counters()->launches == 0);
  set(7);
  CHECK(ends(number));
  CHECK(word(1) == 40 * 32);
  CHECK(on->extras().waiting->running_kernels().empty());
  CHECK(on->extras().counting->counters()->launches == 1);
  CHECK(on->extras().counting->counters()->atomics == 40 * 32);
}

TEST_CASE_FIXTURE(fixture, "any number of kernels that wait for each other end") {
  std::uint64_t numbers[3];
  for (const unsigned n : {0U, 1U, 2U}) {
    REQUIRE(launch("poll", 3 - n, 3).ok());
    numbers[n] = on->extras().waiting->left_launch();
    REQUIRE(numbers[n] != 0);
  }
  for (const int n : {2, 1, 0}) {
    REQUIRE(launch("add", 1, 1, 1).ok());
    CHECK(on->extras().waiting->left_launch() == 0);
    CHECK(ends(numbers[n]));
  }
  CHECK(word(1) == 3 * 3 * 32);
}

TEST_CASE_FIXTURE(fixture, "polling with barriers counts as waiting, too") {
  REQUIRE(launch("poll_together", 1, 2, 128).ok());
  const auto number = on->extras().waiting->left_launch();
  REQUIRE(number != 0);
  set(1);
  CHECK(ends(number));
  CHECK(word(1) == 2 * 128);
}

TEST_CASE_FIXTURE(fixture,
                  "a kernel that reads a clock is left running, too, and its clock continues") {
  REQUIRE(launch("poll_clock", 1, 1, 1).ok());
  const auto number = on->extras().waiting->left_launch();
  REQUIRE(number != 0);
  // Another launch in the meantime.
  REQUIRE(launch("poll_clock", 1, 1, 1).ok());
  const auto second = on->extras().waiting->left_launch();
  REQUIRE(second != 0);
  set(1);
  CHECK(ends(number));
  CHECK(ends(second));
  CHECK(word(1) == 2);
  CHECK(word(2) > 1000);
  const auto waited = word(2);
  REQUIRE(launch("poll_clock", 1, 1, 1).ok());
  CHECK(on->extras().waiting->left_launch() == 0);
  CHECK(word(2) < waited);
}

TEST_CASE_FIXTURE(fixture, "a launch that only computes or hardly waits is not left running") {
  REQUIRE(launch("compute", 10000000).ok());
  CHECK(on->extras().waiting->left_launch() == 0);
  set(5);
  REQUIRE(launch("poll", 5, 100).ok());
  CHECK(on->extras().waiting->left_launch() == 0);
  CHECK(word(1) == 3200);
}

struct hasty {
  hasty() { setenv("STEPWISE_PATIENCE_S", "0.2", 1); }
  ~hasty() { unsetenv("STEPWISE_PATIENCE_S"); }
};
struct hasty_fixture : hasty, fixture {};

TEST_CASE_FIXTURE(hasty_fixture,
                  "a launch that may never end is left running, but does not count as waiting") {
  const auto began = steady::now();
  REQUIRE(launch("endless", 0, 40).ok());
  CHECK(steady::now() - began >= std::chrono::milliseconds(200));
  const auto number = on->extras().waiting->left_launch();
  REQUIRE(number != 0);
  CHECK(on->extras().waiting->running_kernels() == "endless");
  CHECK(on->extras().waiting->waiting_kernels().empty());
  REQUIRE(launch("add", 3).ok());
  CHECK(on->extras().waiting->left_launch() == 0);
  CHECK(word(0) == 3 * 32);
  CHECK(on->extras().waiting->runs(number));
  // A launch that waits is left running sooner, and counts as waiting.
  REQUIRE(launch("poll", 7).ok());
  CHECK(on->extras().waiting->waiting_kernels() == "poll");
  CHECK(on->extras().waiting->running_kernels() == "endless, poll");
  CHECK(on->synchronize().ok());
}

TEST_CASE_FIXTURE(hasty_fixture,
                  "a launch that computes for longer than that ends with the right result") {
  REQUIRE(launch("compute", 40000000).ok());
  const auto number = on->extras().waiting->left_launch();
  REQUIRE(number != 0);
  CHECK(ends(number));
  const auto found = word(0);
  // Without STEPWISE_PATIENCE_S, the launch is not left running.
  unsetenv("STEPWISE_PATIENCE_S");
  fixture other;
  REQUIRE(other.launch("compute", 40000000).ok());
  CHECK(other.on->extras().waiting->left_launch() == 0);
  CHECK(other.word(0) == found);
}

TEST_CASE_FIXTURE(fixture, "memory and modules may change while a launch is left running") {
  REQUIRE(launch("poll", 7, 8).ok());
  const auto number = on->extras().waiting->left_launch();
  REQUIRE(number != 0);
  for (int n = 0; n < 200; ++n) {
    const auto more = on->allocate(1000 + 64 * n);
    REQUIRE(more.ok());
    REQUIRE(on->fill(*more, 1, 1, 1000).ok());
    REQUIRE(on->free(*more).ok());
  }
  const auto other = on->load_module(std::as_bytes(std::span(texts, std::strlen(texts))));
  REQUIRE(other.ok());
  CHECK(on->find_kernel(*other, "add").ok());
  CHECK(on->extras().waiting->runs(number));
  set(7);
  CHECK(ends(number));
  CHECK(word(1) == 8 * 32);
  CHECK(on->unload_module(*other).ok());
}

TEST_CASE_FIXTURE(fixture, "freeing the memory of a launch that was left running makes it fault") {
  REQUIRE(launch("poll", 7).ok());
  const auto number = on->extras().waiting->left_launch();
  REQUIRE(number != 0);
  REQUIRE(on->free(data).ok());
  CHECK(ends(number));
  CHECK(on->synchronize().code == error::illegal_address);
}

TEST_CASE_FIXTURE(fixture, "a fault in one launch ends the others") {
  REQUIRE(launch("poll", 9, 4).ok());
  const auto waits = on->extras().waiting->left_launch();
  REQUIRE(launch("poll_and_fault", 7).ok());
  const auto faults = on->extras().waiting->left_launch();
  REQUIRE(waits != 0);
  REQUIRE(faults != 0);
  set(7);
  CHECK(ends(faults));
  CHECK_FALSE(on->extras().waiting->runs(waits));
  CHECK(on->synchronize().code == error::illegal_address);
  CHECK(launch("add", 1).code == error::illegal_address);
}

TEST_CASE_FIXTURE(fixture,
                  "unloading a module ends its launches, and so does destroying the device") {
  REQUIRE(launch("poll", 7, 4).ok());
  const auto number = on->extras().waiting->left_launch();
  REQUIRE(number != 0);
  CHECK(on->unload_module(module).ok());
  CHECK_FALSE(on->extras().waiting->runs(number));
  CHECK(on->synchronize().ok());
  module = *on->load_module(std::as_bytes(std::span(texts, std::strlen(texts))));
  REQUIRE(launch("poll", 7, 4).ok());
  CHECK(on->extras().waiting->left_launch() != 0);
  on.reset();
}

TEST_CASE(
    "the time limit applies to launches that were left running, and to those that cannot be") {
  setenv("STEPWISE_TIME_LIMIT_S", "0.3", 1);
  {
    fixture f;
    REQUIRE(f.launch("poll", 7).ok());
    const auto number = f.on->extras().waiting->left_launch();
    REQUIRE(number != 0);
    CHECK(f.ends(number));
    CHECK(f.on->synchronize().code == error::launch_timeout);
  }
  setenv("STEPWISE_COUNTERS", "1", 1);
  fixture f;
  unsetenv("STEPWISE_COUNTERS");
  REQUIRE(f.launch("poll", 7).ok());
  unsetenv("STEPWISE_TIME_LIMIT_S");
  CHECK(f.on->extras().waiting->left_launch() == 0);
  CHECK(f.on->synchronize().code == error::launch_timeout);
}

}  // namespace
}  // namespace left_launches_test
