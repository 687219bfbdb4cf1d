// Tests the helpers for labs that do not need CUDA.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "common/lab/ceil_div.hpp"
#include "common/lab/in_bands.hpp"
#include "common/lab/problem.hpp"
#include "common/lab/random.hpp"
#include "common/lab/whole_blocks.hpp"

namespace {

using namespace stepwise;

TEST_CASE("a missing library, or one without a problem, is refused with its name") {
  CHECK_THROWS_WITH(load_problem("/nowhere/problem-first.so"),
                    doctest::Contains("problem-first.so"));
  CHECK_THROWS_WITH(load_problem("libm.so.6"), doctest::Contains("stepwise_problem"));
}

TEST_CASE("an edge that one partial block can hold lacks no whole block") {
  CHECK(!lacks_whole_blocks(64, 70));
  CHECK(!lacks_whole_blocks(48, 60));
  CHECK(lacks_whole_blocks(32, 64));
  CHECK(lacks_whole_blocks(48, 64));
  CHECK(!lacks_whole_blocks(4, 8));  // smaller than a block
}

TEST_CASE("ceil_div rounds up and does not overflow") {
  CHECK(ceil_div(1, 256) == 1);
  CHECK(ceil_div(256, 256) == 1);
  CHECK(ceil_div(257, 256) == 2);
  CHECK(ceil_div(INT_MAX, 1) == INT_MAX);
  CHECK(ceil_div(INT_MAX, 2) == 1 << 30);
  CHECK(ceil_div(INT_MAX, INT_MAX) == 1);
}

TEST_CASE("the random stream is splitmix64") {
  // The reference implementation's first numbers for seed 1234567.
  random_stream random(1234567);
  CHECK(random.next() == 6457827717110365317u);
  CHECK(random.next() == 3203168211198807973u);
  CHECK(random.next() == 9817491932198370423u);
}

TEST_CASE("a random stream can start after any number") {
  random_stream random(7);
  for (int i = 0; i < 10; ++i) {
    auto later = random_stream(7).after(i);
    CHECK(later.next() == random.next());
  }
}

TEST_CASE("a number of a judged grade's stream does not reveal the next") {
  // Inverts splitmix64's last steps to recover the state from a number.
  const auto before_shift = [](std::uint64_t bits, int by) {
    std::uint64_t x = bits;
    for (int i = 0; i < 64; i += by) x = bits ^ x >> by;
    return x;
  };
  const auto inverse = [](std::uint64_t odd) {
    std::uint64_t x = odd;
    for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
    return x;
  };
  const auto continued = [&](std::uint64_t number) {
    std::uint64_t bits = before_shift(number, 31) * inverse(0x94d049bb133111eb);
    bits = before_shift(bits, 27) * inverse(0xbf58476d1ce4e5b9);
    return random_stream(before_shift(bits, 30)).next();
  };
  random_stream open = stream_for(least_secret_seed - 1, 3),
                secret = stream_for(7 * least_secret_seed, 3);
  for (int i = 0; i < 10; ++i) {
    const std::uint64_t known = open.next(), hidden = secret.next();
    CHECK(continued(known) == open.after(0).next());
    CHECK(continued(hidden) != secret.after(0).next());
  }
  // Parts of an open stream are the same as before secret seeds existed, and are open too.
  const random_stream whole = stream_for(7, 3);
  const std::uint64_t seed = random_stream(whole).next();
  CHECK(whole.part(2).next() ==
        random_stream(random_stream(seed).next() + random_stream(~std::uint64_t{2}).next()).next());
  random_stream secret_part = secret.part(2);
  const std::uint64_t first = secret_part.next();
  CHECK(continued(first) != secret_part.next());
  random_stream numbers = stream_for(least_secret_seed, 1);
  for (int i = 0; i < 10; ++i) {
    auto later = stream_for(least_secret_seed, 1).after(i);
    CHECK(later.next() == numbers.next());
  }
}

TEST_CASE(
    "integers fill the whole buffer, cover the whole range, and are the same for equal seeds") {
  std::array<std::int32_t, 1001> first{}, again{}, other{};
  fill_with_ints(first, stream_for(7, 0));
  fill_with_ints(again, stream_for(7, 0));
  fill_with_ints(other, stream_for(7, 1));
  CHECK(first == again);
  CHECK(first != other);
  CHECK(first.back() != 0);
  const auto [least, most] = std::minmax_element(first.begin(), first.end());
  CHECK(*least < INT_MIN / 10 * 9);
  CHECK(*most > INT_MAX / 10 * 9);
  CHECK(std::count(first.begin(), first.end(), 0) == 0);
}

TEST_CASE("bands cover everything once, and use several threads only for enough work") {
  for (const std::int64_t bytes_each :
       {std::int64_t{4}, least_band_bytes, 100 * least_band_bytes}) {
    for (const std::int64_t count : {0, 1, 2, 3, 1000}) {
      CAPTURE(bytes_each);
      CAPTURE(count);
      std::vector<std::atomic<int>> visits(count);
      std::mutex mutex;
      std::set<std::thread::id> threads;
      in_bands(count, bytes_each, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++visits[i];
        const std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
      });
      CHECK(std::all_of(visits.begin(), visits.end(), [](const auto& n) { return n == 1; }));
      const bool is_small = bytes_each == 4 || count < 2;
      const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
      CHECK(threads.size() == static_cast<std::size_t>(is_small ? 1 : std::min(cores, count)));
    }
  }
}

}  // namespace
