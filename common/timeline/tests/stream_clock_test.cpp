// Tests the clock of the streams as the runtime's events see it. The tests of grader/model/timeline
// cover the picture that is drawn from the clock.
#include "common/timeline/stream_clock.hpp"

#include <doctest/doctest.h>

#include "common/timeline/tests/simple_rates.hpp"

using namespace stepwise;

namespace {

using asks = asked::kind;

struct program {
  stream_clock clock{simple_rates()};

  stream_clock::step add(asks what, std::uint64_t stream = 0, std::uint64_t event = 0) {
    asked a;
    a.what = what;
    a.stream = stream;
    a.event = event;
    return clock.add(a);
  }
  stream_clock::step kernel(double us, std::uint64_t stream = 0, double fills = 0.25) {
    asked a;
    a.what = asks::kernel;
    a.stream = stream;
    a.us = us;
    a.fills = fills;
    return clock.add(a);
  }
  double between(std::uint64_t first, std::uint64_t second) const {
    return clock.time_of_event(second) - clock.time_of_event(first);
  }
};

}  // namespace

TEST_CASE("events around a kernel in an idle stream measure its time, including the launch") {
  program p;
  p.add(asks::record, 0, 1);
  p.kernel(100);
  p.add(asks::record, 0, 2);
  CHECK(p.between(1, 2) == 100);
  CHECK(p.between(2, 1) == -100);
}

TEST_CASE("events after other work measure the time between them, and can be recorded again") {
  program p;
  p.kernel(50);
  p.add(asks::record, 0, 1);
  for (int n = 0; n < 3; ++n) p.kernel(100);
  p.add(asks::record, 0, 2);
  CHECK(p.between(1, 2) == 300);
  p.add(asks::record, 0, 1);  // again, later
  CHECK(p.between(1, 2) == 0);
}

TEST_CASE("events: the position of a stream depends on its own work, not on another stream's") {
  program p;
  p.add(asks::record, 3, 1);
  p.kernel(100, 3);
  p.kernel(100, 4);
  p.add(asks::record, 3, 2);
  p.add(asks::record, 4, 3);
  CHECK(p.between(1, 2) == 100);
  CHECK(p.between(1, 3) == 101);  // concurrent, launched 1 us later
  p.kernel(10, 5, 1);             // needs the whole GPU
  p.add(asks::record, 5, 4);
  CHECK(p.between(1, 4) == 111);
}

TEST_CASE("events: a stream that waits for an event continues from there") {
  program p;
  p.kernel(100, 3);
  p.add(asks::record, 3, 1);
  p.kernel(500, 3);
  p.add(asks::wait_event, 4, 1);
  const auto step = p.kernel(10, 4);
  CHECK(step.start_us == p.clock.time_of_event(1));
  CHECK(p.clock.begin_of_next(4, false) == step.start_us + 10);
  // A wait for an event that was never recorded ends at once.
  p.add(asks::wait_event, 5, 99);
  CHECK(p.kernel(10, 5).start_us < step.start_us);
}

TEST_CASE("events: a host that waits records later, and the time of a copy depends on its bytes") {
  program p;
  p.kernel(100, 3);
  CHECK(p.add(asks::host_stream, 3).waits);
  p.add(asks::record, 4, 1);
  CHECK(p.clock.time_of_event(1) == 100);
  asked copy;
  copy.what = asks::copy_to_device;
  copy.stream = 4;
  copy.bytes = 40;
  copy.pageable = true;
  p.clock.add(copy);
  p.add(asks::record, 4, 2);
  CHECK(p.between(1, 2) == 80);
}

TEST_CASE("allocations take the host's time, and freeing waits for all work") {
  transfer_rates rates = simple_rates();
  rates.allocate_us = 5;
  rates.release_us = 3;
  stream_clock clock(rates);
  const auto host_after = [&](asks what) {
    asked a;
    a.what = what;
    const auto s = clock.add(a);
    return s.host_us + s.host_took_us;
  };
  CHECK(host_after(asks::allocate) == 5);
  asked kernel;
  kernel.what = asks::kernel;
  kernel.us = 100;
  clock.add(kernel);
  CHECK(host_after(asks::host_all) == 105);
  CHECK(host_after(asks::release) == 108);
}

TEST_CASE("a copy of pageable memory has a fixed cost, and each direction has its own rate") {
  transfer_rates rates = simple_rates();
  rates.pageable_start_to_device = 10;
  rates.pageable_to_host = 2e6;
  stream_clock clock(rates);
  asked a;
  a.what = asks::copy_to_device;
  a.bytes = 40;
  a.pageable = true;
  CHECK(clock.add(a).us == 10 + 80);
  a.what = asks::copy_to_host;
  CHECK(clock.add(a).us == 20);
}

TEST_CASE("transfer rates are measured where possible, and the link's rate may be an estimate") {
  const auto h200 = rates_of(*find_gpu("h200"));
  CHECK(h200.measured);
  CHECK(h200.link.name == "PCI Express 5.0 x16");
  CHECK(h200.link.bytes_per_s == doctest::Approx(0.8 * find_link("pcie5")->bytes_per_s));
  const double copied = find_gpu("h200")->measured.at("dram_copy");  // GB/s, read and written
  CHECK(h200.copy_bytes_per_s == doctest::Approx(copied * 1e9 / 2).epsilon(0.001));
  CHECK(h200.copy_engines == 2);
  const auto h100 = find_gpu("h100")->measured;
  CHECK(rates_of(*find_gpu("h100")).link.bytes_per_s == 1e9 * h100.at("pinned_to_gpu"));
  // The host's figures come from another GPU's machine.
  CHECK(h200.pageable_to_device == 1e9 * h100.at("pageable_to_gpu"));
  CHECK(h200.pageable_start_to_host == h100.at("pageable_start_to_host"));
  CHECK(h200.allocate_us == h100.at("allocate"));
  const auto t4 = rates_of(*find_gpu("t4"));
  CHECK(!t4.measured);
  CHECK(t4.pageable_to_host <= t4.link.bytes_per_s);
  CHECK(t4.link.name == "PCI Express 3.0 x16");
}
