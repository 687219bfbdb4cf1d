// Tests the runtime's reports to a device with checks, and its own findings, on the fake device.
#include "common/runtime/checks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/runtime/api/launch.hpp"
#include "common/runtime/host/call_stacks.hpp"
#include "common/runtime/stepwise.h"
#include "common/runtime/tests/capture.hpp"
#include "common/runtime/tests/fake_device.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                            dim3*, int*);
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, CUstream_st*);
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t cudaMemcpyAsync_ptsz(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t);
}

namespace {

struct container {
  std::uint32_t magic = 0xBA55ED50;
  std::uint16_t version = 1, header_bytes = 16;
  std::uint64_t bytes = 0;
};

char stub;

// A program under checks with one kernel. Findings go to a file.
struct checked_program {
  container image;
  fat_binary_wrapper wrapper{fat_binary_magic, 1, &image, nullptr};
  void** handle = nullptr;
  std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("findings-" + std::to_string(getpid()));

  checked_program() {
    fake::reset();
    std::filesystem::remove(file);
    state::get().checks = std::make_unique<call_checks>(file);
    kernel_attributes k;
    k.max_threads_per_block = 256;
    fake::controls().kernels["kernel"] = k;
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &stub, nullptr, "kernel", -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    cudaFree(nullptr);  // creates the device
    fake::controls().checks.clear();
  }
  ~checked_program() {
    __cudaUnregisterFatBinary(handle);
    fake::reset();
    std::filesystem::remove(file);
  }

  std::vector<std::string> take_log() { return std::exchange(fake::controls().checks, {}); }
  std::vector<located_finding> written() const {
    std::vector<located_finding> all;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      const auto found = parse_json_line(line);
      REQUIRE(found);
      merge_into(all, *found);
    }
    return all;
  }
  void end(bool in_order = true) {
    state::get().checks->finish(state::get().current.get(), in_order);
    state::get().checks->program_ends();
  }
};

// Makes the calls that nvcc generates for <<<1, block>>>.
void launch_by_syntax(unsigned block = 32, cudaStream_t stream = nullptr, bool per_thread = false) {
  dim3 grid, size;
  std::size_t shared;
  cudaStream_t popped;
  REQUIRE(__cudaPushCallConfiguration(1, block, 0, stream) == 0);
  REQUIRE(__cudaPopCallConfiguration(&grid, &size, &shared, &popped) == cudaSuccess);
  const auto kernel = reinterpret_cast<cudaKernel_t>(&stub);
  (per_thread ? __cudaLaunchKernel_ptsz : __cudaLaunchKernel)(kernel, grid, size, nullptr, shared,
                                                              popped);
}

using strings = std::vector<std::string>;

std::string number_of(cudaStream_t stream) {
  unsigned long long id = 0;
  REQUIRE(cudaStreamGetId(stream, &id) == cudaSuccess);
  return std::to_string(id);
}

finding race_in(const char* kernel, std::uint64_t count, std::uint64_t origin = 0) {
  finding f;
  f.kind = finding_kind::race;
  f.count = count;
  f.origin = origin;
  f.parties.resize(1);
  f.parties[0].kernel = kernel;
  f.parties[0].at = {"a.cu", 3, "", ""};
  return f;
}

}  // namespace

TEST_CASE("launches and waits belong to streams") {
  checked_program p;
  cudaStream_t plain, apart;
  cudaStreamCreate(&plain);
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  const std::string a = number_of(plain), b = number_of(apart);
  p.take_log();
  CHECK(a != b);
  launch_by_syntax();
  CHECK(p.take_log() == strings{"stream 0", "launch"});
  launch_by_syntax(32, plain);
  CHECK(p.take_log() == strings{"stream " + a, "launch"});
  launch_by_syntax(32, apart);
  CHECK(p.take_log() == strings{"stream " + b + " apart", "launch"});
  cudaStreamSynchronize(apart);
  cudaStreamQuery(nullptr);
  cudaDeviceSynchronize();
  CHECK(p.take_log() ==
        strings{"stream " + b + " apart", "wait " + b, "stream 0", "wait 0", "wait all"});
}

TEST_CASE("host functions run in streams, and their work is not observed") {
  checked_program p;
  cudaStream_t apart;
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  const std::string a = number_of(apart);
  p.take_log();
  const auto nothing = [](void*) {};
  cudaLaunchHostFunc(apart, nothing, nullptr);
  CHECK(p.take_log() == strings{"stream " + a + " apart", "host may know " + a});
  cudaStreamAddCallback(
      nullptr, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0);
  CHECK(p.take_log() == strings{"stream 0", "host may know 0"});
  bool met = false;
  {
    state& s = state::get();
    const std::lock_guard guard(s.lock);
    s.order.wait_until(use_of(s, apart), [&](bool& holds) { return holds = met, status{}; });
    s.keep_looking();  // its thread calls the program's functions
  }
  cudaLaunchHostFunc(apart, nothing, nullptr);
  CHECK(p.take_log().empty());
  {
    const std::lock_guard guard(state::get().lock);
    met = true;
  }
  cudaStreamSynchronize(apart);
  const strings log = p.take_log();
  CHECK(std::count(log.begin(), log.end(), "host may know " + a) == 1);
  CHECK(log.back() == "wait " + a);
}

TEST_CASE("each thread has its own default stream") {
  checked_program p;
  launch_by_syntax(32, cudaStreamPerThread);
  const strings here = p.take_log();
  launch_by_syntax(32, nullptr, true);
  CHECK(p.take_log() == here);
  CHECK(here[0] != "stream 0");
  std::thread([] { launch_by_syntax(32, cudaStreamPerThread); }).join();
  const strings there = p.take_log();
  CHECK(there[0].starts_with("stream "));
  CHECK(there != here);
}

TEST_CASE("events order streams") {
  checked_program p;
  cudaStream_t stream;
  cudaEvent_t event;
  cudaStreamCreate(&stream);
  cudaEventCreate(&event);
  const std::string a = number_of(stream);
  cudaStreamWaitEvent(stream, event, 0);  // the event was never recorded, so it orders nothing
  CHECK(p.take_log().empty());
  cudaEventRecord(event, stream);
  CHECK(p.take_log() == strings{"stream " + a, "mark in " + a});
  cudaStreamWaitEvent(nullptr, event, 0);
  CHECK(p.take_log() == strings{"stream 0", "event for 0"});
  cudaEventSynchronize(event);
  CHECK(p.take_log() == strings{"wait for event"});
  cudaEventQuery(event);
  CHECK(p.take_log() == strings{"wait for event"});
  float ms = 0;
  cudaEventElapsedTime(&ms, event, event);
  CHECK(p.take_log() == strings{"wait for event", "wait for event"});
  cudaEvent_t never;
  cudaEventCreate(&never);
  cudaEventSynchronize(never);
  cudaEventElapsedTime(&ms, event, never);
  CHECK(p.take_log().empty());
}

TEST_CASE("work that waits for a condition keeps its stream and call, and is marked when it runs") {
  checked_program p;
  cudaStream_t waits, other, apart;
  cudaEvent_t event;
  cudaStreamCreate(&waits);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  cudaEventCreate(&event);
  const std::string a = number_of(waits), b = number_of(other), c = number_of(apart);
  bool met = false;
  {
    state& s = state::get();
    const std::lock_guard guard(s.lock);
    s.order.wait_until(use_of(s, waits), [&](bool& holds) { return holds = met, status{}; });
  }
  p.take_log();
  launch_by_syntax(32, waits);
  cudaEventRecord(event, waits);
  cudaStreamWaitEvent(other, event, 0);
  launch_by_syntax(64, other);
  CHECK(p.take_log().empty());
  launch_by_syntax(96, apart);
  CHECK(p.take_log() == strings{"stream " + c + " apart", "launch"});
  met = true;
  launch_by_syntax(128, apart);
  CHECK(p.take_log() == strings{"stream " + a, "launch", "stream " + a, "mark in " + a,
                                "stream " + b + " apart", "event for " + b,
                                "stream " + b + " apart", "launch", "stream " + c + " apart",
                                "launch"});
  const auto& launches = fake::controls().launches;
  REQUIRE(launches.size() == 4);
  CHECK(launches[1].config.block.x == 32);
  CHECK(launches[2].config.block.x == 64);
  // The origins are the same as if each launch had run immediately.
  const auto& origins = fake::controls().origins;
  REQUIRE(origins.size() == 4);
  CHECK(origins[1] != origins[2]);
  CHECK(origins[1] != origins[3]);
  CHECK(state::get().order.empty());
}

TEST_CASE("the host waits for copies that need it to wait") {
  checked_program p;
  void *memory = nullptr, *more = nullptr, *pinned = nullptr;
  char pageable[16] = {};
  cudaMalloc(&memory, 16);
  cudaMalloc(&more, 16);
  cudaMallocHost(&pinned, 16);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  const std::string in = "stream " + number_of(stream), wait = "wait " + number_of(stream);
  p.take_log();
  cudaMemcpy(memory, pageable, 16, cudaMemcpyHostToDevice);
  CHECK(p.take_log() == strings{"stream 0", "stream 0", "wait 0"});
  cudaMemcpy(memory, pinned, 16, cudaMemcpyHostToDevice);
  CHECK(p.take_log() == strings{"stream 0", "stream 0", "wait 0"});
  cudaMemcpy(memory, more, 16, cudaMemcpyDeviceToDevice);
  CHECK(p.take_log() == strings{"stream 0"});
  cudaMemcpyAsync(pageable, memory, 16, cudaMemcpyDeviceToHost, stream);
  CHECK(p.take_log() == strings{in, in, wait});
  cudaMemcpyAsync(pinned, memory, 16, cudaMemcpyDeviceToHost, stream);
  CHECK(p.take_log() == strings{in});
  cudaMemsetAsync(memory, 0, 16, stream);
  CHECK(p.take_log() == strings{in});
  cudaMemset(memory, 0, 16);
  CHECK(p.take_log() == strings{"stream 0"});
  cudaMemset(pinned, 0, 16);
  CHECK(p.take_log() == strings{"stream 0", "stream 0", "wait 0"});
  cudaMemsetAsync(pinned, 0, 16, stream);
  CHECK(p.take_log() == strings{in});
  cudaMemcpyAsync_ptsz(pinned, memory, 16, cudaMemcpyDeviceToHost, nullptr);
  CHECK(p.take_log() != strings{"stream 0"});
}

TEST_CASE("the origin of a launch is the place where its configuration was pushed") {
  checked_program p;
  volatile int times = 2;  // volatile, so that the loop is not unrolled and is one place
  for (int i = 0; i < times; i++) launch_by_syntax();
  launch_by_syntax();
  const auto& origins = fake::controls().origins;
  REQUIRE(origins.size() == 3);
  CHECK(origins[0] != 0);
  CHECK(origins[0] == origins[1]);
  CHECK(origins[0] != origins[2]);
}

TEST_CASE("a plain run passes names of memory to the device, and nothing about launches") {
  checked_program p;
  state::get().checks.reset();
  cudaDeviceReset();
  launch_by_syntax();
  launch_by_syntax(2048);
  cudaDeviceSynchronize();
  stepwiseNameAllocation(nullptr, "in");
  CHECK(p.take_log() == strings{"launch", "name in"});
  CHECK(fake::controls().origins == std::vector<std::uint64_t>{0});
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("allocations have names") {
  checked_program p;
  stepwiseNameAllocation(nullptr, "in");
  CHECK(p.take_log() == strings{"name in"});
}

TEST_CASE("the device's findings are written at once, and their counts are added up") {
  checked_program p;
  fake::controls().findings = {race_in("k", 5), race_in("other", 1)};
  cudaDeviceSynchronize();
  REQUIRE(p.written().size() == 2);
  fake::controls().findings = {race_in("k", 2)};
  cudaDeviceSynchronize();
  CHECK(p.written()[0].what.count == 5);
  p.end();
  CHECK(p.written().size() == 2);
  CHECK(p.written()[0].what.count == 7);
  CHECK(p.written()[0].what.parties[0].kernel == "k");
  CHECK(p.written()[1].what.count == 1);
}

TEST_CASE("leaks are reported only if a program ends normally") {
  checked_program p;
  p.end(false);
  CHECK(p.take_log().empty());
  p.end(true);
  CHECK(p.take_log() == strings{"leaks?"});
  cudaDeviceReset();
  CHECK(p.take_log() == strings{"leaks?"});
}

TEST_CASE("a kernel's fault is unchecked until a call returns it") {
  const auto found_after = [](auto&& calls) {
    checked_program p;
    launch_by_syntax();
    fake::controls().fault = {error::illegal_address, "address 12"};
    calls();
    const auto quiet = captured_stderr([&] {
      state& s = state::get();
      if (s.fault.ok()) s.synchronize();
    });
    p.end();
    auto all = p.written();
    fake::controls().fault = {};
    return all;
  };
  const auto unchecked = found_after([] {});
  REQUIRE(unchecked.size() == 1);
  CHECK(unchecked[0].what.kind == finding_kind::unchecked_error);
  CHECK(unchecked[0].what.message.find("address 12") != std::string::npos);
  captured_stderr([&] {
    CHECK(found_after([] { cudaDeviceSynchronize(); }).empty());
    // The device has reported the kernel's error, so its failure is not reported again.
    const auto found = found_after([] { fake::controls().findings = {race_in("k", 1)}; });
    REQUIRE(found.size() == 1);
    CHECK(found[0].what.kind == finding_kind::race);
  });
}

TEST_CASE("stacks have numbers") {
  const call_stack one = {1, 2}, two = {1, 3};
  CHECK(number_of_stack({}) == 0);
  CHECK(number_of_stack(one) == number_of_stack(one));
  CHECK(number_of_stack(one) != number_of_stack(two));
  CHECK(!place_of_origin(0).known());
  CHECK(!place_of_origin(1'000'000).known());
}
