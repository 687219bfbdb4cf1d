// Tests dependencies on a timeline: streams, events, copy engines, room for kernels, and the host.
#include "grader/model/timeline.hpp"

#include <doctest/doctest.h>

#include "common/timeline/tests/simple_rates.hpp"

using namespace stepwise;

namespace {

using asks = asked::kind;

struct asked_calls {
  asked_list list;

  asked& add(asks what, std::uint64_t stream = 0) {
    asked& a = list.all.emplace_back();
    a.what = what;
    a.call = list.all.size();
    a.stream = stream;
    return a;
  }
  // Kernel `a` takes 100 us and fills half of the GPU. Kernel `b` takes 10 us and fills all of it.
  asked& kernel(const std::string& name, std::uint64_t stream = 0) {
    asked& a = add(asks::kernel, stream);
    a.kernel = name;
    a.us = name == "a" ? 100 : name == "b" ? 10 : 0;
    a.fills = name == "a" ? 0.5 : 1;
    return a;
  }
  void copy(asks what, std::uint64_t bytes, std::uint64_t stream = 0) {
    add(what, stream).bytes = bytes;
  }
};

timeline laid_out(const asked_calls& p, const transfer_rates& rates = simple_rates()) {
  return lay_out(p.list, rates);
}

}  // namespace

TEST_CASE("timeline: work in one stream runs in order, after its call") {
  asked_calls p;
  p.kernel("a");
  p.kernel("b");
  const timeline t = laid_out(p);
  REQUIRE(t.activities.size() == 2);
  CHECK(t.activities[0].start_us == 0);
  CHECK(t.activities[0].us == 100);
  CHECK(t.activities[1].start_us == 100);
  CHECK(t.us == 110);
  CHECK(t.busy_us == 110);
  CHECK(t.rows == std::vector<std::string>{"default stream"});
}

TEST_CASE("timeline: kernels in two streams overlap if their blocks fit") {
  asked_calls p;
  p.kernel("a", 3);
  p.kernel("a", 4);
  p.kernel("b", 5);
  const timeline t = laid_out(p);
  CHECK(t.activities[1].start_us == 1);
  CHECK(t.activities[2].start_us == 101);  // no room before the second kernel ends
  CHECK(t.rows.size() == 3);
  CHECK(t.rows[0] == "stream 1");
}

TEST_CASE("timeline: copies in one direction run in order, and overlap everything else") {
  asked_calls p;
  p.copy(asks::copy_to_device, 50, 3);
  p.copy(asks::copy_to_device, 50, 4);
  p.copy(asks::copy_to_host, 20, 5);
  p.kernel("b", 6);
  const timeline t = laid_out(p);
  CHECK(t.activities[0].start_us == 0);
  CHECK(t.activities[1].start_us == 50);
  CHECK(t.activities[2].start_us == 2);
  CHECK(t.activities[3].start_us == 3);
  CHECK(t.copies_us == 100);
  CHECK(t.kernels_us == 10);
  CHECK(t.overlap_us == 10);
  transfer_rates one = simple_rates();
  one.copy_engines = 1;
  CHECK(laid_out(p, one).activities[2].start_us == 100);
}

TEST_CASE("timeline: the default stream and blocking streams wait for each other, others do not") {
  asked_calls p;
  p.kernel("b", 3);
  p.kernel("b", 0);
  p.kernel("b", 4);
  p.kernel("a", 5).non_blocking = true;
  const timeline t = laid_out(p);
  CHECK(t.activities[1].start_us == t.activities[0].end_us());
  CHECK(t.activities[2].start_us == t.activities[1].end_us());
  // It waits only for room on the GPU.
  CHECK(t.activities[3].start_us == t.activities[2].end_us());
  asked_calls free;
  free.kernel("a", 0);
  free.list.all.push_back(p.list.all.back());
  free.list.all.back().call = 2;
  CHECK(laid_out(free).activities[1].start_us == 1);
}

TEST_CASE("timeline: a stream waits for the work before an event, and for nothing after it") {
  asked_calls p;
  p.copy(asks::copy_to_device, 30, 3);
  p.add(asks::record, 3).event = 9;
  p.copy(asks::copy_to_device, 500, 3);
  p.add(asks::wait_event, 4).event = 9;
  p.kernel("b", 4);
  const timeline t = laid_out(p);
  CHECK(t.activities[2].start_us == 30);
}

TEST_CASE("timeline: the host waits for a stream, an event or all work, and then calls later") {
  for (const asks wait : {asks::host_stream, asks::host_event, asks::host_all}) {
    CAPTURE(static_cast<int>(wait));
    asked_calls p;
    p.kernel("a", 3);
    p.add(asks::record, 3).event = 7;
    asked& a = p.add(wait, 3);
    a.event = 7;
    a.name = "cudaWait";
    p.kernel("b", 4);
    const timeline t = laid_out(p);
    CHECK(t.activities[1].start_us == 100);
    REQUIRE(t.calls.size() == 4);
    CHECK(t.calls[2].waits);
    CHECK(t.calls[2].start_us == 1);
    CHECK(t.calls[2].us == 99);
    CHECK(!t.calls[3].waits);
  }
}

TEST_CASE("timeline: unpinned memory is slower, and is counted if the call is Async") {
  asked_calls p;
  p.copy(asks::copy_to_device, 50, 3);
  p.list.all.back().pageable = true;
  p.list.all.back().name = "cudaMemcpyAsync";
  const timeline t = laid_out(p);
  CHECK(t.activities[0].us == 100);
  CHECK(t.pageable_copies == 1);
}

TEST_CASE("timeline: a launch without a time is reported, and has no length") {
  asked_calls p;
  p.kernel("unknown");
  const timeline t = laid_out(p);
  CHECK(t.untimed == 1);
  CHECK(t.activities[0].us == 0);
  CHECK(laid_out({}).us == 0);
}
