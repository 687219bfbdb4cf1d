// The hash compared with published values, and the seeds and sizes that follow from a key.
#include "grader/judge/key.hpp"

#include <doctest/doctest.h>

#include <set>

#include "common/lab/random.hpp"
#include "grader/judge/tests/doubling.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;

TEST_CASE("SHA-256 and HMAC give the published values") {
  // FIPS 180-4, examples of the Secure Hash Standard.
  CHECK(hex_of(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex_of(sha256("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex_of(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hex_of(sha256(std::string(1'000'000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // RFC 4231, cases 1, 2 and 6.
  CHECK(hex_of(hmac_sha256(std::string(20, '\x0b'), "Hi There")) ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hex_of(hmac_sha256("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hex_of(hmac_sha256(std::string(131, '\xaa'),
                           "Test Using Larger Than Block-Size Key - Hash Key First")) ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("a submission's seed and sizes are fixed by a secret key, and random without one") {
  lab l = tests::doubling_lab();
  l.hidden = {{2, 0}, {100000, 3}};
  const temporary_folder folder(fs::temp_directory_path());
  write_atomically(folder.path() / "key", std::string(32, 'k'));
  const grading_key open, secret(folder.path() / "key");
  CHECK(open.is_public());
  CHECK(!secret.is_public());
  CHECK(open.id() != secret.id());
  const grading_key same(folder.path() / "key");
  CHECK(secret.seed(l, "a") == same.seed(l, "a"));
  CHECK(secret.seed(l, "a") != secret.seed(l, "b"));
  CHECK(secret.hidden_sizes(l, "a", 1) == same.hidden_sizes(l, "a", 2));
  CHECK(secret.hidden_sizes(l, "a", 1) != secret.hidden_sizes(l, "b", 1));
  lab in_eights;
  in_eights.name = "gemm";
  in_eights.hidden = {{8, 8, 8}, {320, 320, 520}};
  in_eights.size_unit = 8;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    for (const lab_size& size : open.hidden_sizes(in_eights, "a", seed)) {
      for (const std::int64_t number : size) {
        CHECK(number % 8 == 0);
        CHECK(number >= 8);
      }
    }
  }
  // Each number of a large size is between the given size and the timed size.
  CHECK(!open.large_size(l, {1000, 1}, "a", 1));
  l.modelled = {{1 << 20, 0}};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto large = open.large_size(l, {1000, 1}, "a", seed);
    REQUIRE(large);
    CHECK(large->at(0) >= 1000);
    CHECK(large->at(0) <= 1 << 20);
    CHECK(large->at(1) >= 0);
    CHECK(large->at(1) <= 1);
    CHECK(large == open.large_size(l, {1000, 1}, "b", seed));
    CHECK(large != open.large_size(l, {1000, 1}, "a", seed + 1));
  }
  CHECK(secret.large_size(l, {1000, 1}, "a", 1) == same.large_size(l, {1000, 1}, "a", 2));
  // A counted size is at least as large as the declared size. A dimension that is small or 0 stays
  // as it is.
  std::set<std::int64_t> drawn;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto counted = open.counted_size(l, {512, 0, 100}, "a", seed);
    CHECK(counted == open.counted_size(l, {512, 0, 100}, "b", seed));
    CHECK(counted.at(1) == 0);
    CHECK(counted.at(2) == 100);
    drawn.insert(counted.at(0));
  }
  CHECK(drawn == std::set<std::int64_t>{512, 544, 576, 608, 640});
  CHECK(secret.counted_size(l, {1 << 20}, "a", 1) == same.counted_size(l, {1 << 20}, "a", 2));
  CHECK(secret.counted_size(l, {1 << 20}, "a", 1) != secret.counted_size(l, {1 << 20}, "b", 1));
  // Without the key, the seed that a grade shows does not lead to the inputs. The public key hides
  // nothing.
  const auto shown = secret.seed(l, "a");
  CHECK(secret.seed_of_inputs(l, shown) == same.seed_of_inputs(l, shown));
  CHECK(secret.seed_of_inputs(l, shown) != shown);
  CHECK(secret.seed_of_inputs(l, shown) != secret.seed_of_inputs(l, shown + 1));
  CHECK(open.seed_of_inputs(l, shown) == shown);
  // Nothing in a file reveals the numbers that the public key draws. Only the seed does.
  CHECK(open.seed(l, "a") != open.seed(l, "a"));
  CHECK(open.hidden_sizes(l, "a", 1) == grading_key().hidden_sizes(l, "b", 1));
  CHECK(open.hidden_sizes(l, "a", 1) != open.hidden_sizes(l, "a", 2));
  CHECK(open.hidden_sizes(l, "a", 1) != secret.hidden_sizes(l, "a", 1));
  for (const auto seed :
       {open.seed(l, "a"), secret.seed(l, "a"), fresh_seed(), secret.seed_of_inputs(l, 7)}) {
    CHECK(seed >= least_secret_seed);
    CHECK(seed < std::uint64_t{1} << 53);
  }

  std::set<std::int64_t> kinds;
  int small = 0, large = 0;
  for (int i = 0; i < 100; ++i) {
    for (const lab_size& size : secret.hidden_sizes(l, std::to_string(i), 1)) {
      REQUIRE(size.size() == 2);
      CHECK(size[0] >= 2);
      CHECK(size[0] <= 100000);
      small += size[0] < 100;
      large += size[0] > 10000;
      kinds.insert(size[1]);
    }
  }
  CHECK(small > 80);  // of 400: each order of magnitude is drawn
  CHECK(large > 50);
  CHECK(kinds == std::set<std::int64_t>{0, 1, 2, 3});
  l.hidden.clear();
  CHECK(secret.hidden_sizes(l, "a", 1).empty());
}

TEST_CASE("a malformed or missing key is refused") {
  const temporary_folder folder(fs::temp_directory_path());
  write_atomically(folder.path() / "short", "123");
  CHECK_THROWS_AS(grading_key(folder.path() / "short"), failure);
  CHECK_THROWS_AS(grading_key(folder.path() / "none"), failure);
}
