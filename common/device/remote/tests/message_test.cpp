// Tests that messages, frames and windows arrive as they were sent, and that malformed ones are
// refused.
#include "common/device/remote/message.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "common/device/remote/channel.hpp"

using namespace stepwise;
using namespace stepwise::remote;

namespace {

std::vector<std::byte> bytes_of(const message& m) {
  byte_writer to;
  append(to, m);
  return to.take();
}

template <std::size_t... Kinds>
std::vector<message> one_of_each(std::index_sequence<Kinds...>) {
  return {message(std::in_place_index<Kinds>)...};
}

// One message of each kind, and some whose fields differ from the defaults.
std::vector<message> some_messages() {
  auto all = one_of_each(std::make_index_sequence<std::variant_size_v<message>>());
  start_kernel start;
  start.kernel = 7;
  start.grid = {1, 2, 3};
  start.block = {4, 5, 6};
  start.dynamic_shared_bytes = 8;
  start.how = start_kernel::cooperative | start_kernel::may_begin_early;
  start.parameters.resize(9, std::byte{1});
  all.push_back(start);
  all.push_back(write_bytes{0x700000000000, {1, 2}});
  all.push_back(find_kernel{3, "_Z6reducePKiPii"});
  all.push_back(load{{1, 2, 3}});
  all.push_back(give_place{1, "reduction.cu", "reduce<<<1, 2>>>()", "reduce", 31});
  return all;
}

}  // namespace

TEST_CASE("every message is read as it was written, and no prefix of it is a message") {
  for (const message& m : some_messages()) {
    CAPTURE(m.index());
    const auto bytes = bytes_of(m);
    byte_reader from(bytes);
    const auto again = next_message(from);
    REQUIRE(again.has_value());
    CHECK(from.complete());
    CHECK(bytes_of(*again) == bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      byte_reader part{std::span<const std::byte>(bytes).first(size)};
      const auto found = next_message(part);
      CHECK(!(found.has_value() && part.ok()));
    }
  }
}

TEST_CASE("invalid lengths, Booleans and kinds are refused") {
  const auto refused = [](std::vector<std::byte> bytes) {
    byte_reader from(bytes);
    return !next_message(from).has_value();
  };
  auto name = bytes_of(find_kernel{1, "abcd"});
  std::memset(name.data() + 9, 0xFF, 4);  // the length of the name
  CHECK(refused(name));
  auto stream = bytes_of(enter_stream{1, true});
  stream.back() = std::byte{2};
  CHECK(refused(stream));
  CHECK(refused({std::byte{static_cast<unsigned char>(std::variant_size_v<message>)}}));
  CHECK(refused({}));
  // The message claims 2^32 - 1 elements, far more than its bytes hold. Allocating memory for these
  // elements before reading would take gigabytes.
  auto parts = bytes_of(load{{1}});
  std::memset(parts.data() + 1, 0xFF, 4);
  CHECK(refused(parts));
}

TEST_CASE("frames arrive whole, in whatever pieces they are sent") {
  auto ends = make_channel();
  REQUIRE(ends.has_value());
  std::vector<std::byte> first(1000, std::byte{1}), second(3, std::byte{2});
  CHECK(send_frame(ends->first.get(), first, {}));
  CHECK(send_frame(ends->first.get(), second, {}));
  frame_buffer in(most_batch_bytes);
  CHECK(in.receive(ends->second.get()));
  CHECK(in.next() == first);
  CHECK(in.next() == second);
  CHECK(!in.next().has_value());

  const std::uint32_t length = 4;
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(write(ends->first.get(), reinterpret_cast<const char*>(&length) + i, 1) == 1);
    CHECK(in.receive(ends->second.get()));
    CHECK(!in.next().has_value());
  }
  REQUIRE(write(ends->first.get(), "abcd", 4) == 4);
  CHECK(in.receive(ends->second.get()));
  REQUIRE(in.next().has_value());
  ends->first.reset();
  CHECK(!in.receive(ends->second.get()));
}

TEST_CASE("a frame that is too long is refused before it is stored") {
  auto ends = make_channel();
  REQUIRE(ends.has_value());
  const std::uint32_t length = most_batch_bytes + 1;
  REQUIRE(write(ends->first.get(), &length, sizeof length) == sizeof length);
  frame_buffer in(most_batch_bytes);
  CHECK(!in.receive(ends->second.get()));
}

TEST_CASE("send_frame gives up a frame that is not read, instead of waiting") {
  auto ends = make_channel();
  REQUIRE(ends.has_value());
  const std::vector<std::byte> large(4 << 20);
  CHECK(!send_frame(ends->first.get(), large, {}));
}

TEST_CASE("only a window that no process can shrink is mapped") {
  auto ends = make_channel();
  REQUIRE(ends.has_value());
  const mapped_window window(ends->window.get());
  CHECK(window.bytes().size() == window_bytes);
  CHECK(ftruncate(ends->window.get(), 4096) != 0);
  const descriptor open_ended(memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(ftruncate(open_ended.get(), window_bytes) == 0);
  CHECK(mapped_window(open_ended.get()).bytes().empty());
  CHECK(mapped_window(-1).bytes().empty());
  CHECK(mapped_window(ends->first.get()).bytes().empty());
}
