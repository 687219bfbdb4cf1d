// Tests the parts of a runner that do not need CUDA: the glue for a contract, and the validation of
// a call file. labs/tests tests whole runners.
#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "common/lab/random.hpp"
#include "common/runner/contract.hpp"
#include "common/runner/mapped_call_file.hpp"

namespace {

using namespace stepwise;
using namespace stepwise::runner;

struct {
  const float* a;
  unsigned char* b;
  int n;
  std::uint8_t m;
} received;

void mixed(const float* a, int n, unsigned char* b, std::uint8_t m) { received = {a, b, n, m}; }
void reduce_like(const int*, int*, int*, int) {}

constexpr contract mixed_contract = contract_of<&mixed>::make("mixed");
constexpr contract reduce_contract = contract_of<&reduce_like>::make("reduce");

// A call file on disk, which is removed with the object.
class file_on_disk {
 public:
  explicit file_on_disk(const std::vector<std::byte>& content) {
    const int file = mkstemp(path_.data());
    REQUIRE(file >= 0);
    REQUIRE(write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    close(file);
  }
  ~file_on_disk() { unlink(path_.c_str()); }
  file_on_disk(const file_on_disk&) = delete;
  file_on_disk& operator=(const file_on_disk&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/stepwise-runner-test-XXXXXX";
};

// A valid file with one call of reduce() for n = 16.
struct parts {
  call_file_header header{};
  call_record call{};
  std::vector<std::byte> data = std::vector<std::byte>(256);

  parts() {
    std::memcpy(header.magic, call_file_magic, sizeof header.magic);
    header.version = call_file_version;
    header.call_count = 1;
    const std::uint64_t first = (sizeof header + sizeof call + 63) / 64 * 64;
    header.file_bytes = first + data.size();
    call.buffer_count = 3;
    call.scalar_count = 1;
    call.plan.repetitions = 2;
    call.times_offset = first + 128;
    call.buffers[0] = {buffer_role::input, 0, 64, first, 0, 0, 0, {}, {}};
    call.buffers[1] = {buffer_role::output, 0, 4, first + 64, 0xa5, 0, 0, {}, {}};
    call.buffers[2] = {buffer_role::scratch, 0, 192, 0, 0xa5, 0, 0, {}, {}};
    call.scalars[0] = 16;
  }

  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all(sizeof header + sizeof call);
    std::memcpy(all.data(), &header, sizeof header);
    std::memcpy(all.data() + sizeof header, &call, sizeof call);
    all.resize((all.size() + 63) / 64 * 64);
    all.insert(all.end(), data.begin(), data.end());
    return all;
  }
};

// The reader's complaint about these bytes; "" if the reader accepts them.
std::string complaint(const std::vector<std::byte>& bytes) {
  const file_on_disk file(bytes);
  try {
    mapped_call_file mapped(file.path());
    for (std::uint32_t i = 0; i < mapped.call_count(); ++i) {
      const call_record call = mapped.checked_record(i, reduce_contract);
      // Every byte that the runner would touch must exist.
      for (std::uint32_t b = 0; b < call.buffer_count; ++b) {
        if (call.buffers[b].role == buffer_role::scratch) continue;
        for (std::byte& byte : mapped.area(call.buffers[b].offset, call.buffers[b].bytes)) {
          byte ^= std::byte{1};
        }
      }
      for (std::byte& byte :
           mapped.area(call.times_offset, call.plan.repetitions * sizeof(float))) {
        byte ^= std::byte{1};
      }
    }
  } catch (const file_error& error) {
    return error.what();
  }
  return "";
}

std::string complaint(const parts& p) { return complaint(p.bytes()); }

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("a contract takes buffers and numbers in the order of its parameters") {
  CHECK(mixed_contract.pointers == 2);
  CHECK(mixed_contract.integers == 2);
  CHECK(reduce_contract.pointers == 3);
  CHECK(reduce_contract.integers == 1);
  std::array<float, 1> a;
  std::array<unsigned char, 1> b;
  const std::array<void*, 2> buffers = {a.data(), b.data()};
  const std::array<std::int64_t, 2> scalars = {-5, 200};
  mixed_contract.call(buffers.data(), scalars.data());
  CHECK(received.a == a.data());
  CHECK(received.b == b.data());
  CHECK(received.n == -5);
  CHECK(received.m == 200);
}

TEST_CASE("a number that does not fit its parameter is refused, not truncated") {
  const std::array<void*, 2> buffers = {nullptr, nullptr};
  const std::array<std::int64_t, 2> large_n = {std::int64_t{1} << 31, 0}, large_m = {0, 256},
                                    negative_m = {0, -1};
  CHECK_THROWS_AS(mixed_contract.call(buffers.data(), large_n.data()), std::out_of_range);
  CHECK_THROWS_AS(mixed_contract.call(buffers.data(), large_m.data()), std::out_of_range);
  CHECK_THROWS_WITH_AS(mixed_contract.call(buffers.data(), negative_m.data()),
                       "the number -1 does not fit its parameter", std::out_of_range);
}

TEST_CASE("a valid file is accepted") { CHECK(complaint(parts()) == ""); }

TEST_CASE("a malformed call file is refused with a reason") {
  CHECK_THROWS_AS(mapped_call_file("/nonexistent/file"), file_error);
  CHECK_THROWS_AS(mapped_call_file("/tmp"), file_error);
  CHECK(contains(complaint(std::vector<std::byte>{}), "too short"));
  CHECK(contains(complaint(std::vector<std::byte>(100)), "too short"));
  CHECK(contains(complaint(std::vector<std::byte>(1000)), "is not a call file"));
  parts p;
  p.header.version = 77;
  CHECK(contains(complaint(p), "has version 77"));
  p = parts();
  ++p.header.file_bytes;
  CHECK(contains(complaint(p), "damaged"));
  p = parts();
  p.header.call_count = 2000;
  CHECK(contains(complaint(p), "no room for 2000 calls"));
}

TEST_CASE("a record that points outside the file, or does not fit the contract, is refused") {
  const auto with = [](auto change) {
    parts p;
    change(p.call);
    return complaint(p);
  };
  CHECK(contains(with([](call_record& c) { c.buffer_count = 2; }), "takes 3 buffers"));
  CHECK(contains(with([](call_record& c) { c.buffer_count = 0xffffffff; }), "takes 3 buffers"));
  CHECK(contains(with([](call_record& c) { c.scalar_count = 2; }), "takes 3 buffers"));
  CHECK(contains(with([](call_record& c) { c.plan.repetitions = 0; }), "repetitions"));
  CHECK(contains(with([](call_record& c) { c.plan.repetitions = 0xffffffff; }), "repetitions"));
  CHECK(contains(with([](call_record& c) { c.times_offset += 2; }), "not aligned"));
  CHECK(contains(with([](call_record& c) { c.times_offset = 0; }), "outside"));
  CHECK(contains(with([](call_record& c) { c.times_offset = ~0ull - 3; }), "outside"));
  CHECK(contains(with([](call_record& c) { c.buffers[0].bytes = ~0ull; }), "outside"));
  CHECK(contains(with([](call_record& c) { c.buffers[0].bytes += 1000; }), "outside"));
  CHECK(contains(with([](call_record& c) { c.buffers[1].offset += 4; }), "not aligned"));
  CHECK(contains(with([](call_record& c) { c.buffers[1].offset = 0; }), "outside"));
  CHECK(contains(with([](call_record& c) { c.buffers[1].role = buffer_role{9}; }), "role"));
  CHECK(contains(with([](call_record& c) { c.buffers[2].bytes = ~0ull; }), "too large"));
  CHECK(contains(with([](call_record& c) { c.memory = memory_kind{3}; }), "kind of memory"));
}

TEST_CASE("the number of a call past the last one is refused") {
  const file_on_disk file(parts().bytes());
  mapped_call_file mapped(file.path());
  CHECK_NOTHROW(mapped.checked_record(0, reduce_contract));
  CHECK_THROWS_AS(mapped.checked_record(1, reduce_contract), file_error);
  CHECK_THROWS_AS(mapped.checked_record(0xffffffff, reduce_contract), file_error);
}

TEST_CASE("whatever the damage to a file, the reader touches only bytes that exist") {
  random_stream random(1);
  const std::vector<std::byte> right = parts().bytes();
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> bytes = right;
    const std::uint64_t changes = 1 + random.next() % 4;
    for (std::uint64_t i = 0; i < changes; ++i) {
      const std::uint64_t at = random.next() % (sizeof(call_file_header) + sizeof(call_record));
      bytes[at] = static_cast<std::byte>(random.next());
    }
    if (random.next() % 8 == 0) bytes.resize(random.next() % bytes.size());
    if (complaint(bytes).empty()) ++accepted;
  }
  CHECK(accepted > 0);  // the message and the scalars may hold anything
  CHECK(accepted < 3000);
}

}  // namespace
