// Tests calls whose contract needs host memory. The runner asks its machine for that memory, and
// does not touch the device's memory.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/runner/call_maker.hpp"
#include "common/runner/pageable_memory.hpp"

namespace memory_kind_test {

using namespace stepwise::runner;

constexpr int n = 100;
bool writes_past_end = false, changes_input = false;
bool was_poisoned = false;

void double_all(const unsigned char* in, unsigned char* out, int count) {
  was_poisoned = true;
  for (int i = 0; i < count; ++i) was_poisoned = was_poisoned && out[i] == 0x5b;
  for (int i = 0; i < count; ++i) out[i] = static_cast<unsigned char>(2 * in[i]);
  if (writes_past_end) out[count] = 7;
  if (changes_input) const_cast<unsigned char*>(in)[3] = 99;
}

constexpr contract double_contract = contract_of<&double_all>::make("double_all");

// A machine without device memory. It throws at any access to device memory.
class device_without_memory : public machine {
 public:
  struct touched {};

  memory& host_memory() override { return host_; }
  void describe(call_file_header&) const override {}
  bool needs_guards() const override { throw touched(); }
  const char* writer() const override { throw touched(); }
  std::byte* allocate(std::uint64_t) override { throw touched(); }
  void release(std::byte*, std::uint64_t) noexcept override {}
  void copy_in(std::byte*, std::span<const std::byte>) override { throw touched(); }
  void copy_out(std::span<std::byte>, const std::byte*) override { throw touched(); }
  void fill(std::byte*, std::uint8_t, std::uint64_t) override { throw touched(); }
  void make_cold(std::span<const std::span<std::byte>>) override {}
  void start_clock() override {}
  float stop_clock(const char*) override { return 1; }

 private:
  pageable_memory host_;
};

class one_call {
 public:
  explicit one_call(memory_kind kind) {
    const std::uint64_t first = (sizeof(call_file_header) + sizeof(call_record) + 63) / 64 * 64;
    std::vector<std::byte> content(first + 3 * 128);
    call_file_header header{};
    std::memcpy(header.magic, call_file_magic, sizeof header.magic);
    header.version = call_file_version;
    header.call_count = 1;
    header.file_bytes = content.size();
    call_record call{};
    call.memory = kind;
    call.buffer_count = 2;
    call.scalar_count = 1;
    call.scalars[0] = n;
    call.plan.repetitions = 2;
    call.times_offset = first + 256;
    call.buffers[0] = {buffer_role::input, 0, n, first, 0, 0, 0, {}, "in"};
    call.buffers[1] = {buffer_role::output, 0, n, first + 128, 0x5b, 0, 0, {}, "out"};
    std::memcpy(content.data(), &header, sizeof header);
    std::memcpy(content.data() + sizeof header, &call, sizeof call);
    for (int i = 0; i < n; ++i) content[first + i] = static_cast<std::byte>(i);
    const int file = mkstemp(path_.data());
    REQUIRE(file >= 0);
    REQUIRE(write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    close(file);
    mapped_ = std::make_unique<mapped_call_file>(path_);
    unlink(path_.c_str());
  }

  const call_record& make(bool past_end = false, bool input = false) {
    writes_past_end = past_end;
    changes_input = input;
    maker_.make(*mapped_, 0);
    return mapped_->record(0);
  }
  bool is_right() {
    const auto out = mapped_->area(mapped_->record(0).buffers[1].offset, n);
    for (int i = 0; i < n; ++i)
      if (out[i] != static_cast<std::byte>(2 * i)) return false;
    return true;
  }

 private:
  std::string path_ = "/tmp/stepwise-memory-test-XXXXXX";
  std::unique_ptr<mapped_call_file> mapped_;
  device_without_memory where_;
  call_maker maker_{double_contract, where_};
};

TEST_CASE("the arrays of a host contract are filled, poisoned and returned in host memory") {
  one_call call(memory_kind::host);
  const call_record& answer = call.make();
  INFO(std::string(answer.message));
  CHECK(answer.state == call_state::done);
  CHECK(call.is_right());
  CHECK(was_poisoned);  // also before the second repetition
}

TEST_CASE("the arrays of a device contract are not in host memory") {
  one_call call(memory_kind::device);
  CHECK(call.make().state == call_state::failed);
  CHECK(!call.is_right());
}

TEST_CASE("guard zones and inputs are checked in host memory") {
  one_call past_end(memory_kind::host), input(memory_kind::host);
  CHECK(std::string(past_end.make(true).message) ==
        "the function wrote past the end of pointer parameter 2 of double_all()");
  CHECK(past_end.make(true).buffers[1].guard_broken == 2);
  CHECK(std::string(input.make(false, true).message).find("in[3] was changed") !=
        std::string::npos);
  CHECK(input.make(false, true).buffers[0].modified == 1);
}

}  // namespace memory_kind_test
