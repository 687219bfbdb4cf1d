// Tests calls on the CPU itself: buffers, guard zones, times and failures.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/runner/call_maker.hpp"

namespace {

using namespace stepwise::runner;

constexpr int n = 5000;  // more than a page of ints

// The error that the function under test makes, and the function's observations.
std::string mistake;
struct {
  bool poisoned, aligned;
  int calls;
} seen;

// out[i] = in[i] + 1.
void add_one(const int* in, int* out, int* scratch, int count) {
  ++seen.calls;
  seen.poisoned = true;
  for (int i = 0; i < count; ++i)
    if (out[i] != 0x5b5b5b5b || scratch[i] != 0x5d5d5d5d) seen.poisoned = false;
  for (const void* const buffer : {static_cast<const void*>(in), static_cast<const void*>(out),
                                   static_cast<const void*>(scratch)})
    seen.aligned = seen.aligned && reinterpret_cast<std::uintptr_t>(buffer) % 256 == 0;
  if (mistake == "throws") throw std::runtime_error("no idea");
  if (mistake == "is slow") std::this_thread::sleep_for(std::chrono::milliseconds(30));
  for (int i = 0; i < count; ++i) out[i] = in[i] + 1;
  for (int i = 0; i < count; ++i) scratch[i] = i;
  if (mistake == "writes past the end") out[count] = 7;
  if (mistake == "writes before") scratch[-1] = 7;
  if (mistake == "changes its input") const_cast<int*>(in)[3] = 99;
}

constexpr contract add_one_contract = contract_of<&add_one>::make("add_one");

// A call file on disk with one call, which runs on the CPU.
class host_call {
 public:
  explicit host_call(buffers_are buffers = buffers_are::fresh, bool cold = false) {
    const std::uint64_t first = (sizeof(call_file_header) + sizeof(call_record) + 63) / 64 * 64;
    const std::uint64_t bytes = sizeof(int) * n, room = (bytes + 63) / 64 * 64;
    std::vector<std::byte> content(first + 2 * room + 64);
    call_file_header header{};
    std::memcpy(header.magic, call_file_magic, sizeof header.magic);
    header.version = call_file_version;
    header.call_count = 1;
    header.file_bytes = content.size();
    call_record call{};
    call.buffer_count = 3;
    call.scalar_count = 1;
    call.scalars[0] = n;
    call.plan.warmups = 1;
    call.plan.repetitions = 3;
    call.plan.cold_l2 = cold ? 1 : 0;
    call.plan.buffers = buffers;
    call.times_offset = first + 2 * room;
    call.buffers[0] = {buffer_role::input, 0, bytes, first, 0, 0, sizeof(int), {}, "in"};
    call.buffers[1] = {buffer_role::output, 0,  bytes, first + room, 0x5b, 0,
                       sizeof(int),         {}, "out"};
    call.buffers[2] = {buffer_role::scratch, 0, bytes, 0, 0x5d, 0, sizeof(int), {}, "scratch"};
    std::memcpy(content.data(), &header, sizeof header);
    std::memcpy(content.data() + sizeof header, &call, sizeof call);
    std::vector<int> in(n);
    for (int i = 0; i < n; ++i) in[static_cast<std::size_t>(i)] = 3 * i;
    std::memcpy(content.data() + first, in.data(), bytes);
    const int file = mkstemp(path_.data());
    REQUIRE(file >= 0);
    REQUIRE(write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    close(file);
    mapped_ = std::make_unique<mapped_call_file>(path_);
    unlink(path_.c_str());
    seen = {false, true, 0};
  }

  call_record& make(const std::string& wrong = "") {
    mistake = wrong;
    maker_.make(*mapped_, 0);
    return mapped_->record(0);
  }
  std::vector<float> times() {
    std::vector<float> all(3);
    std::memcpy(all.data(), mapped_->area(mapped_->record(0).times_offset, 12).data(), 12);
    return all;
  }
  bool has_result() {
    std::vector<int> out(n);
    std::memcpy(out.data(), mapped_->area(mapped_->record(0).buffers[1].offset, 4 * n).data(),
                4 * n);
    for (int i = 0; i < n; ++i)
      if (out[static_cast<std::size_t>(i)] != 3 * i + 1) return false;
    return true;
  }

 private:
  std::string path_ = "/tmp/stepwise-host-test-XXXXXX";
  std::unique_ptr<mapped_call_file> mapped_;
  std::unique_ptr<machine> where_ = make_machine();
  call_maker maker_{add_one_contract, *where_};
};

TEST_CASE(
    "a call on the CPU is timed, its buffers are poisoned before each run, and it has outputs") {
  for (const bool cold : {false, true}) {
    host_call call(buffers_are::fresh, cold);
    const call_record& answer = call.make();
    INFO(std::string(answer.message));
    CHECK(answer.state == call_state::done);
    CHECK(call.has_result());
    CHECK(seen.calls == 4);
    CHECK(seen.poisoned);  // seen by the last call, although the call before wrote the whole buffer
    CHECK(seen.aligned);
    CHECK(answer.counters.valid == 0);
    for (const float ms : call.times()) CHECK((ms > 0 && ms < 1000));
  }
}

TEST_CASE("the time on the CPU is the duration of the call") {
  host_call call;
  call.make("is slow");
  for (const float ms : call.times()) CHECK(ms >= 30);
}

TEST_CASE("guard zones reveal a write outside a buffer, and a copy reveals a changed input") {
  const auto message = [](const char* wrong) {
    host_call call;
    const call_record& answer = call.make(wrong);
    CHECK(answer.state == call_state::failed);
    CHECK(answer.cuda_error == 0);
    return std::string(answer.message);
  };
  CHECK(message("writes past the end") ==
        "a thread wrote past the end of pointer parameter 2 of add_one()");
  CHECK(message("writes before") ==
        "a thread wrote before the start of pointer parameter 3 of add_one()");
  CHECK(message("changes its input") ==
        "in[3] was changed, but add_one() must not change in, which is const");
}

TEST_CASE("an exception fails its call, and the next call still runs") {
  host_call call(buffers_are::left);
  CHECK(std::string(call.make("throws").message) == "add_one() threw an exception: no idea");
  CHECK(call.make().state == call_state::done);
  CHECK(call.has_result());
}

TEST_CASE("reused buffers serve the next call, and are not copied back") {
  host_call call(buffers_are::reused);
  CHECK(call.make().state == call_state::done);
  CHECK(!call.has_result());
  CHECK(call.make("changes its input").state == call_state::done);  // nothing was checked
}

TEST_CASE("the header has the CPU's name, and does not call it an emulator") {
  call_file_header header{};
  header.device_emulated = 1;
  make_machine()->describe(header);
  CHECK(header.device_emulated == 0);
  CHECK(std::strlen(header.device_name) > 0);
}

}  // namespace
