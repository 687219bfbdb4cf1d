// Tests the order of streams while launches are left running, on a fake device that leaves running
// the launches that a test selects. ../conformance/beside/ has tests with kernels.
#include "common/runtime/order/order.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "common/runtime/api/api.hpp"
#include "common/runtime/tests/fake_device.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace order_test {
namespace {

constexpr stream_use legacy{0, false}, a{3, false}, b{4, false}, apart{5, true};

struct fixture {
  std::unique_ptr<device> on;
  std::mutex lock;
  stream_order order;
  std::vector<int> done;

  fixture() {
    fake::reset();
    on = std::move(*make_process_device());
    lock.lock();
  }
  ~fixture() {
    lock.unlock();
    fake::reset();
  }
  void left_in(const stream_use& stream, std::uint64_t launch) {
    fake::controls().running.insert(launch);
    order.add_running(stream, launch);
  }
  stream_order::work note(int number) {
    return [this, number] { return done.push_back(number), status{}; };
  }
  status end(std::uint64_t launch) {
    fake::controls().running.erase(launch);
    return order.advance(*on, lock, false);
  }
};

TEST_CASE_FIXTURE(fixture, "nothing has to wait if no launch was left running") {
  CHECK(order.empty());
  CHECK_FALSE(order.must_wait(legacy));
  CHECK(order.mark(a, note(1)) == 0);
  CHECK_FALSE(order.is_outstanding(0));
  order.wait(a, 0);
  CHECK(order.empty());
  CHECK(order.advance(*on, lock, true).ok());
  CHECK(done.empty());
}

TEST_CASE_FIXTURE(fixture, "the legacy default stream and blocking streams wait for each other") {
  left_in(a, 1);
  CHECK(order.must_wait(a));
  CHECK(order.must_wait(legacy));
  CHECK_FALSE(order.must_wait(b));
  CHECK_FALSE(order.must_wait(apart));
  order.add(legacy, note(1));
  CHECK(order.must_wait(b));  // new work comes after the default stream's work
  CHECK_FALSE(order.must_wait(apart));
  order.add(b, note(2));
  order.add(a, note(3));
  CHECK(order.advance(*on, lock, false).ok());
  CHECK(done.empty());
  CHECK(end(1).ok());
  CHECK(done == std::vector{1, 2, 3});
  CHECK(order.empty());
}

TEST_CASE_FIXTURE(fixture,
                  "points join streams, and a stream without earlier work waits for a point too") {
  left_in(a, 1);
  const auto point = order.mark(a, note(1));
  CHECK(order.is_outstanding(point));
  CHECK_FALSE(order.must_wait(apart));
  order.wait(apart, point);
  CHECK(order.must_wait(apart));
  order.add(apart, note(2));
  left_in(b, 2);
  CHECK(end(1).ok());
  CHECK(done == std::vector{1, 2});
  CHECK_FALSE(order.is_outstanding(point));
  CHECK(order.must_wait(b));
  CHECK_FALSE(order.must_wait(apart));
  CHECK(order.is_outstanding_up_to(order.last()));
  CHECK(end(2).ok());
  CHECK_FALSE(order.is_outstanding_up_to(order.last()));
}

TEST_CASE_FIXTURE(fixture, "held work runs when the host waits for it, or when its time has come") {
  const auto soon = [] { return stream_order::clock::now() + std::chrono::seconds(100); };
  order.hold(a, soon());
  order.add(a, note(1));
  const auto point = order.mark(a);
  order.hold(a, soon());
  order.add(a, note(2));
  order.hold(b, soon());
  order.add(b, note(3));
  CHECK(order.must_wait(a));
  CHECK(order.advance(*on, lock, true).ok());
  CHECK(done.empty());
  order.hurry(point);
  CHECK(order.advance(*on, lock, true).ok());
  CHECK(done == std::vector{1});
  CHECK_FALSE(order.is_outstanding(point));
  order.wait(b, order.mark(a, note(4)));  // after the second item of a
  order.add(b, note(5));
  order.hurry(b);
  CHECK(order.advance(*on, lock, true).ok());
  CHECK(done == std::vector{1, 2, 3, 4, 5});
  CHECK(order.empty());
  order.hold(a, stream_order::clock::now());
  order.add(a, note(6));
  CHECK(order.advance(*on, lock, true).ok());
  CHECK(done.back() == 6);
  order.hold(apart, soon());
  order.add(apart, note(7));
  order.hurry_all();
  CHECK(order.advance(*on, lock, true).ok());
  CHECK(done.back() == 7);
}

TEST_CASE_FIXTURE(fixture, "a queued launch may itself be left running") {
  fake::controls().kernels["k"] = {};
  const auto kernel = *on->find_kernel(*on->load_linked({}), "k");
  left_in(a, 1);
  order.add(a, [&] {
    fake::controls().leave = 2;
    return on->launch(kernel, {}, {});
  });
  order.add(a, note(1));
  CHECK(end(1).ok());
  CHECK(fake::controls().launches.size() == 1);
  CHECK(done.empty());
  CHECK(order.must_wait(a));
  CHECK(end(2).ok());
  CHECK(done == std::vector{1});
}

TEST_CASE_FIXTURE(fixture, "the program's functions are called without the lock, if at all") {
  left_in(a, 1);
  bool was_free = false;
  order.add(
      a,
      [&] {
        std::thread([&] {  // the owner of the lock must not try to lock it
          was_free = lock.try_lock();
          if (was_free) lock.unlock();
        })
            .join();
        return status{};
      },
      true);
  order.add(a, note(2));
  CHECK(end(1).ok());
  CHECK(done.empty());
  CHECK_FALSE(was_free);
  CHECK(order.advance(*on, lock, true).ok());
  CHECK(was_free);
  CHECK(done == std::vector{2});
}

TEST_CASE_FIXTURE(fixture, "after a failure no work is outstanding") {
  left_in(a, 1);
  left_in(b, 2);
  order.add(a, [] { return status{error::invalid_value, "no"}; });
  order.add(a, note(1));
  CHECK(end(1).code == error::invalid_value);
  CHECK(order.empty());
  left_in(a, 3);
  order.add(a, note(1));
  fake::controls().fault = {error::illegal_address, "a fault"};
  CHECK(end(3).code == error::illegal_address);
  CHECK(order.empty());
  CHECK(done.empty());
}

TEST_CASE_FIXTURE(fixture, "a stream waits for a condition, and other streams do not") {
  bool met = false;
  int asked = 0;
  status failure;
  order.wait_until(a, [&](bool& holds) { return ++asked, holds = met, failure; });
  CHECK(order.waits_for_conditions());
  CHECK(order.must_wait(a));
  CHECK_FALSE(order.must_wait(b));
  order.add(a, note(1));
  const auto point = order.mark(a);
  CHECK(order.advance(*on, lock, true).ok());
  CHECK(asked == 1);
  CHECK(done.empty());
  CHECK(order.is_outstanding(point));
  met = true;
  CHECK(order.advance(*on, lock, true).ok());
  CHECK(done == std::vector{1});
  CHECK(order.empty());
  CHECK_FALSE(order.waits_for_conditions());
}

TEST_CASE_FIXTURE(fixture, "a condition is tested only after the work before it has ended") {
  bool asked = false;
  left_in(a, 1);
  order.wait_until(a, [&](bool& holds) { return asked = holds = true, status{}; });
  CHECK_FALSE(order.waits_for_conditions());
  CHECK(order.advance(*on, lock, false).ok());
  CHECK_FALSE(asked);
  CHECK(end(1).ok());
  CHECK(asked);
  CHECK(order.empty());
}

TEST_CASE_FIXTURE(fixture, "a condition that fails is a failure, and discards all queued work") {
  order.wait_until(a, [](bool&) { return status{error::illegal_address, "gone"}; });
  order.add(a, note(1));
  left_in(b, 1);
  CHECK(order.advance(*on, lock, false).code == error::illegal_address);
  CHECK(order.empty());
  CHECK(done.empty());
}

// --- calls

// A process whose last launch was left running in its own stream.
struct calls {
  cudaStream_t stream = nullptr, other = nullptr;
  int* memory = nullptr;
  calls() {
    fake::reset();
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&memory), 64) == cudaSuccess);
    state& s = state::get();
    const std::lock_guard guard(s.lock);
    fake::controls().running.insert(1);
    // No thread polls the launch, so nothing happens by itself.
    s.order.add_running(use_of(s, stream), 1);
  }
  ~calls() { fake::reset(); }
  static void end() {
    state& s = state::get();
    const std::lock_guard guard(s.lock);
    fake::controls().running.erase(1);
  }
};

TEST_CASE_FIXTURE(calls,
                  "queries return cudaErrorNotReady until a launch that was left has ended") {
  cudaEvent_t event = nullptr, before = nullptr;
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  REQUIRE(cudaEventCreate(&before) == cudaSuccess);
  CHECK(cudaEventRecord(before, other) == cudaSuccess);
  CHECK(cudaEventRecord(event, stream) == cudaSuccess);
  CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
  CHECK(cudaStreamQuery(other) == cudaSuccess);
  CHECK(cudaEventQuery(event) == cudaErrorNotReady);
  CHECK(cudaEventQuery(before) == cudaSuccess);
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, before, event) == cudaErrorNotReady);
  end();
  CHECK(cudaEventQuery(event) == cudaSuccess);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&ms, before, event) == cudaSuccess);
}

TEST_CASE_FIXTURE(calls,
                  "fills and copies in the stream are queued, and those in other streams are not") {
  CHECK(cudaMemsetAsync(memory, 1, 4, other) == cudaSuccess);
  CHECK(cudaMemsetAsync(memory + 1, 2, 4, stream) == cudaSuccess);
  CHECK(cudaMemcpyAsync(memory + 2, memory, 8, cudaMemcpyDeviceToDevice, stream) == cudaSuccess);
  // Unpinned host memory is accessed during the call, if no wait is needed.
  int host[2] = {-1, -1};
  CHECK(cudaMemcpyAsync(host, memory, 8, cudaMemcpyDeviceToHost, other) == cudaSuccess);
  CHECK(host[0] == 0x01010101);
  CHECK(host[1] == 0);
  CHECK(fake::controls().copies == 0);
  end();
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(fake::controls().copies == 1);
  CHECK(cudaMemcpy(host, memory + 2, 8, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(host[0] == 0x01010101);
  CHECK(host[1] == 0x02020202);
}

TEST_CASE_FIXTURE(calls, "a call that waits returns when another thread has seen the end") {
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    end();
  });
  CHECK(cudaFree(memory) == cudaSuccess);
  later.join();
  CHECK(state::get().order.empty());
}

TEST_CASE_FIXTURE(calls, "calls that wait for a launch that was left running return its fault") {
  CHECK(cudaMemsetAsync(memory, 1, 4, stream) == cudaSuccess);
  fake::controls().fault = {error::illegal_address, "a fault of the fake device"};
  end();
  CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  CHECK(state::get().order.empty());
}

}  // namespace
}  // namespace order_test
