// Copies and fills cost their sectors and one launch each. The rows of a pitched area share one
// launch.
#include "common/emulator/transfers.hpp"

#include <doctest/doctest.h>

using stepwise::device_transfers;
using stepwise::find_gpu;
using stepwise::emulator::transfer_counter;

namespace {

constexpr std::uint64_t megabyte = 1 << 20;

TEST_CASE("a large copy moves its bytes twice, at the memory's rate") {
  transfer_counter counter(*find_gpu("h200"), true);
  counter.copied(1 << 30, 1 << 28, 64 * megabyte);
  const device_transfers t = counter.take();
  CHECK(t.copies == 1);
  CHECK(t.copied_bytes == 64 * megabyte);
  CHECK(t.bytes_moved() == 128 * megabyte);
  CHECK(t.us > 128 * 1.048576e6 / 4.8e6);  // no faster than the published bandwidth
  CHECK(t.us < 50);
  CHECK(counter.take() == device_transfers{});
}

TEST_CASE("each small fill costs a launch and a sector") {
  transfer_counter counter(*find_gpu("h200"), true);
  for (int n = 0; n < 10; ++n) counter.filled(4096 + 4 * n, 4);
  const device_transfers t = counter.take();
  CHECK(t.fills == 10);
  CHECK(t.filled_bytes == 10 * 32);
  CHECK(t.us > 10);
}

TEST_CASE("copies of rows with gaps count as one operation until other work comes between them") {
  transfer_counter counter(*find_gpu("h200"), true);
  for (std::uint64_t row = 0; row < 8; ++row) counter.copied(1 << 20, 8192 + row * 512, 256);
  CHECK(counter.take().copies == 8);  // all to one place
  for (std::uint64_t row = 0; row < 8; ++row) counter.copied((1 << 20) + row * 256, row * 512, 256);
  CHECK(counter.take().copies == 1);
  for (std::uint64_t row = 0; row < 8; ++row) {
    counter.end_rows();
    counter.filled((1 << 20) + row * 512, 256);
  }
  CHECK(counter.take().fills == 8);
  for (std::uint64_t row = 0; row < 8; ++row) counter.filled((1 << 20) + row * 256, 256);
  CHECK(counter.take().fills == 8);  // without gaps, one call would do
}

TEST_CASE("transfers are counted without times, but not between calls") {
  transfer_counter counter(*find_gpu("h200"), false);
  counter.count(false);
  counter.filled(4096, 64);  // before the call
  counter.allocated();
  counter.count(true);
  counter.filled(4096, 128);
  counter.allocated();
  counter.count(false);
  counter.filled(4096, 1024);  // after the call
  const device_transfers t = counter.take();
  CHECK(t.filled_bytes == 128);
  CHECK(t.us == 0);
  CHECK(t.allocations == 1);
}

}  // namespace
