// Tests the reduction lab's inputs, its comparison, and its messages about wrong sums.
#include "common/lab/problem.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "labs/reduction/reduction.hpp"
#include "labs/tests/problem_tests.hpp"

namespace reduction_problem_test {

using namespace stepwise;

struct example {
  explicit example(std::int64_t n, std::uint64_t seed = 7)
      : lab(problem_under_test()), call(lab.make_call({n}, seed)), in(n) {
    std::memcpy(in.data(), call.buffers[0].data.data(), n * sizeof(std::uint32_t));
  }

  std::uint32_t sum_of(std::size_t first, std::size_t last) const {
    return std::accumulate(in.begin() + first, in.begin() + last, std::uint32_t{0});
  }
  std::uint32_t sum() const { return sum_of(0, in.size()); }

  // The message of check() about this result, or "" if the result is right.
  std::string verdict(std::uint32_t out) const {
    const auto bytes = std::as_bytes(std::span(&out, 1));
    return lab.check(call, std::span(&bytes, 1)).value_or("");
  }

  void says(std::uint32_t out, const std::string& phrase) const {
    const std::string text = verdict(out);
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
  }

  const problem& lab;
  problem_call call;
  std::vector<std::uint32_t> in;
};

TEST_CASE("inputs have the same bytes on every machine, whether one core or several make them") {
  const problem& lab = problem_under_test();
  const auto hash = [&](std::int64_t n, std::uint64_t seed) {
    return hash_of(lab.make_call({n}, seed).buffers[0].data);
  };
  // Computed one element after the other. The last two are large enough for several cores.
  CHECK(hash(1, 7) == 0x7ac68322c61b3fec);
  CHECK(hash(65537, 7) == 0x32b6257252e2a427);
  CHECK(hash(9000001, 7) == 0x894112f6487ac226);
  CHECK(hash(9000001, 1) == 0x3e04408f41714a73);
}

TEST_CASE("a call has the contract's buffers and scalars, and its size and seed decide its bytes") {
  const example a(1023), again(1023), other(1023, 8), longer(1024);
  REQUIRE(a.call.buffers.size() == 3);
  CHECK(a.call.label == "n = 1023, seed 7");
  CHECK(a.call.scalars == std::vector<std::int64_t>{1023});
  CHECK(a.call.buffers[0].role == runner::buffer_role::input);
  CHECK(a.call.buffers[0].bytes == 4 * 1023);
  CHECK(a.call.buffers[1].role == runner::buffer_role::output);
  CHECK(a.call.buffers[1].bytes == 4);
  CHECK(a.call.buffers[2].role == runner::buffer_role::scratch);
  CHECK(a.call.buffers[2].bytes == 4 * scratch_ints(1023));
  CHECK(a.in == again.in);
  CHECK(a.in != other.in);
  CHECK(a.in[0] != longer.in[0]);
}

TEST_CASE("sizes outside the contract are refused") {
  const problem& lab = problem_under_test();
  CHECK_THROWS_AS(lab.make_call({0}, 1), std::invalid_argument);
  CHECK_THROWS_AS(lab.make_call({-1}, 1), std::invalid_argument);
  CHECK_THROWS_AS(lab.make_call({std::int64_t{1} << 31}, 1), std::invalid_argument);
  CHECK_THROWS_AS(lab.make_call({1, 1}, 1), std::invalid_argument);
  CHECK_THROWS_AS(lab.work({}), std::invalid_argument);
}

TEST_CASE("work is one read per element and one write of the sum") {
  const problem_work work = problem_under_test().work({1000});
  CHECK(work.bytes == 4004);
  CHECK(work.operations == 999);
}

TEST_CASE("the right sum passes, and every other number fails") {
  for (const int n : {1, 2, 31, 257, 1000003}) {
    const example e(n);
    CHECK(e.verdict(e.sum()) == "");
    for (int bit = 0; bit < 32; ++bit) CHECK(e.verdict(e.sum() ^ (1u << bit)) != "");
  }
}

TEST_CASE("a message has the expected and the found sum, and the call") {
  const example e(1023);
  const std::string expected = std::to_string(static_cast<std::int32_t>(e.sum()));
  const std::string found = std::to_string(static_cast<std::int32_t>(e.sum() + 12345));
  CHECK(e.verdict(e.sum() + 12345) ==
        "reduction: out = " + found + ", expected " + expected + " (n = 1023, seed 7)");
}

TEST_CASE("common mistakes are recognised by the sum that they produce") {
  const example e(1025);
  e.says(0xa5a5a5a5, "nothing was written to out");
  e.says(e.sum() + 0xa5a5a5a5, "do not add it to what is there");
  e.says(0, "the sum that is stored is 0: was anything added to it, and does the thread that");
  e.says(e.in[0], "in[0] alone");
  e.says(e.sum_of(0, 1024), "the last element is missing");
  e.says(e.sum_of(0, 1000), "the last 25 elements are missing");
  e.says(e.sum_of(1, 1025), "the first element is missing");
  e.says(2 * e.sum(), "2 times the sum");
  e.says(e.in[500], "in[500] alone");
  e.says(e.sum() - e.in[500], "in[500] is missing");
  e.says(e.sum() + e.in[500], "in[500] is added twice");
  std::uint32_t even = 0;
  for (std::size_t i = 0; i < e.in.size(); i += 2) even += e.in[i];
  e.says(even, "this is in[0] + in[2] + ..., one element in every 2");
  e.says(e.sum() - even, "this is in[1] + in[3] + ..., one element in every 2");

  const example large(1000003);
  large.says(large.sum_of(0, 256), "the first 256 elements only - are the sums of all blocks");
  large.says(large.sum_of(0, 524288), "n that is not a power of two");
}

TEST_CASE("a fill that was added is recognised, even if cudaMemset set a part of it") {
  const example e(257), one(1);
  e.says(e.sum() + 0xa5a5a5a5, "do not add it to what is there");
  e.says(e.sum() + 0xa7a7a700, "0xa7a7a7a7 filled out before the call, and only 1 byte of it");
  e.says(e.sum() + 0xa70000u * 256, "and only 3 bytes of it");
  e.says(0xbbbbbbbb, "does a last launch add up the sums of the blocks");
  CHECK(one.verdict(0xbbbbbbbb).ends_with("nothing was written to out"));
}

TEST_CASE("a sum minus a small number comes from unwritten shared memory") {
  const example e(1), many(1000003);
  e.says(e.sum() - 255, "255 such words were added");
  e.says(e.sum() - 1, "1 such word was added");
  many.says(many.sum() - 2048, "the sum minus 2048: shared memory that was not written holds -1");
  CHECK(many.verdict(many.sum() - 2049).ends_with(", seed 7)"));
  CHECK(many.verdict(many.sum() + 2049).ends_with(", seed 7)"));
}

TEST_CASE("sums that begin at 1, copies of too few bytes, and missing sums are recognised") {
  const example e(1000);
  e.says(e.sum() + 4, "the sum plus 4: does every sum begin at 0");
  e.says((e.sum() & 0xff) | 0xcbcbcb00, "only 1 byte of the sum is there, and the rest is 0xcbcb");
  const example large(65537);
  large.says(large.sum_of(0, 65536), "the last launch add the sums of all blocks, even if");
}

TEST_CASE("for an element or a sum that is added several times, the message says how often") {
  const example one(1), many(1000);
  one.says(256 * one.in[0], "this is 256 times in[0]");
  many.says(1024 * many.in[0], "this is 1024 times in[0]");
  many.says(512 * many.sum(), "this is 512 times the sum");
  CHECK(many.verdict(3 * many.sum()).ends_with("is every element added 3 times?"));
  one.says(2 * one.sum(), "does a shuffle's offset leave the warp");
}

TEST_CASE("a sum of floats is recognised by the bits that it lost") {
  const example e(1);
  const auto in_float = static_cast<float>(static_cast<std::int32_t>(e.in[0]));
  e.says(static_cast<std::uint32_t>(static_cast<std::int32_t>(in_float)), "add ints");
}

TEST_CASE("narrow types are recognised by the bits that they keep") {
  const example one(1), many(1000);
  for (const example* e : {&one, &many}) {
    const std::uint32_t sum = e->sum();
    e->says(static_cast<std::uint32_t>(static_cast<std::int16_t>(sum)), "kept as a short");
    e->says(sum & 0xffff, "the low 16 bits of the sum");
    e->says(sum & 0xff, "kept as a char");
    e->says(static_cast<std::uint32_t>(static_cast<std::int8_t>(sum)), "the low 8 bits of the sum");
  }
  std::uint32_t of_bytes = 0, of_shorts = 0;
  for (const std::uint32_t value : many.in) {
    of_bytes += value & 0xff;
    of_shorts += static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
  }
  many.says(of_bytes, "the sum of the low 8 bits of every element: is in read as chars");
  many.says(of_shorts, "the sum of the low 16 bits of every element: is in read as shorts");
  many.says(many.sum_of(0, 256) & 0xffff, "the low 2 bytes of the sum of the first 256 elements");
}

TEST_CASE("a last launch that reads `in` is distinguished from missing elements") {
  const example two(257), more(1025), wide(1025);
  two.says(two.in[0] + two.in[1], "this is in[0] + in[1], and 2 blocks of 256 elements cover in");
  more.says(more.sum_of(0, 5), "this is in[0] + ... + in[4], and 5 blocks of 256");
  wide.says(wide.sum_of(0, 4), "the first 4 elements only");
}

TEST_CASE("missing elements at the end suggest the tree, the blocks or the number of blocks") {
  const example small(3), level(65), blocks(1000);
  small.says(small.sum_of(0, 2), "the last element is missing - is n the limit of every load");
  small.says(small.sum_of(0, 2), "a block that is halved must be a power of two)?");
  level.says(level.sum_of(0, 64), "the last element is missing, and the first 64 are there - does");
  level.says(level.sum_of(0, 64), "all levels of the tree must be added");
  blocks.says(blocks.sum_of(0, 768), "missing - does the number of blocks round up?");
}

TEST_CASE("elements at equal distances are recognised if they are missing, doubled or alone") {
  const example e(1003);
  const auto sum_at = [&](std::size_t first, std::size_t distance, std::size_t end) {
    std::uint32_t sum = 0;
    for (std::size_t i = first; i < end; i += distance) sum += e.in[i];
    return sum;
  };
  e.says(e.sum() - sum_at(3, 4, 1000), "in[3] + in[7] + ..., one element in every 4, is missing");
  e.says(e.sum() + sum_at(1, 32, 1003),
         "in[1] + in[33] + ..., one element in every 32, is added twice");
  e.says(sum_at(5, 8, 1003), "this is in[5] + in[13] + ..., one element in every 8");
  CHECK(e.verdict(e.sum() - sum_at(3, 5, 1003)).ends_with(", seed 7)"));
  const example four(4);  // two elements are too few for a rule
  CHECK(four.verdict(four.in[1] + four.in[3]).ends_with(", seed 7)"));
}

TEST_CASE("an end that is added twice, and blocks that store to one place, are recognised") {
  const example two(513), four(1000);
  two.says(two.sum() + two.sum_of(256, 513), "in[256] to in[512] are added twice - does a loop");
  two.says(two.sum() + two.sum_of(301, 512), "in[301] to in[511] are added twice");
  const example large(1200191);
  large.says(
      large.sum() + large.sum_of(1048576, 1200188),
      "in[1048576] to in[1200187] are added twice - does a loop advance by all that the grid");
  two.says(two.sum_of(512, 513) + 2 * 0xa5a5a5a5u,
           "this is in[512] plus 0xa5a5a5a5 for each other");
  four.says(four.sum_of(512, 1000) + 0xbbbbbbbbu,
            "this is in[512] + ... + in[999] plus 0xbbbbbbbb, which filled scratch");
}

TEST_CASE("shuffles up are recognised by lane 0's value, in a warp, in the last warp, or in both") {
  const example one(1), warp(32), many(257);
  std::uint32_t of_lanes_0 = 0;
  for (std::size_t i = 0; i < many.in.size(); i += 32) of_lanes_0 += many.in[i];
  one.says(32 * one.in[0], "this is 32 times in[0]: __shfl_up_sync returns lane 0 its own value");
  one.says(1024 * one.in[0], "this is 1024 times in[0]: __shfl_up_sync");
  one.says(32 * one.in[0], "check that the index of in includes threadIdx.x");
  warp.says(32 * warp.sum(), "this is 32 times the sum of in[0] to in[31]: __shfl_up_sync");
  many.says(32 * of_lanes_0, "this is 32 times the sum of in[0], in[32], ...: __shfl_up_sync");
  many.says(32 * many.sum_of(0, 32), "32 times the sum of in[0] to in[31]: __shfl_up_sync");
  CHECK(many.verdict(32 * of_lanes_0).ends_with("Use __shfl_down_sync"));
  CHECK(one.verdict(64 * one.in[0]).find("shfl_up") == std::string::npos);
}

TEST_CASE("blocks that begin at a wrong place are recognised by their distance") {
  const example two(257), three(300);
  two.says(2 * two.sum_of(0, 256), "2 blocks of 256 elements all read the same elements");
  two.says(two.sum_of(0, 256) + two.sum_of(1, 257), "2 blocks of 256 elements begin 1 element");
  two.says(two.sum_of(0, 256) + two.sum_of(2, 257), "2 blocks of 256 elements begin gridDim.x");
  three.says(
      three.sum_of(0, 128) + three.sum_of(3, 131) + three.sum_of(6, 134),
      "3 blocks of 128 elements begin gridDim.x elements apart: is blockIdx.x multiplied by");
  CHECK(three.verdict(three.sum_of(0, 128) + three.sum_of(4, 132) + three.sum_of(8, 136))
            .ends_with(", seed 7)"));
}

TEST_CASE("blocks that all add everything, or overwrite each other's sums, are recognised") {
  const example two(257), three(1025);
  two.says(2 * two.sum(), "2 blocks of 256 elements cover in: does each block add all of in");
  three.says(3 * three.sum(), "3 blocks of 512 elements cover in: does each block");
  two.says(two.sum() + two.in[256],
           "in[256], the last element, is added twice: does a loop advance");
  two.says(two.in[256], "this is in[256], the sum of one block alone: do all blocks store");
  three.says(three.sum_of(512, 1024), "this is in[512] + ... + in[1023], the sum of one block");
  three.says(three.sum_of(512, 1023), "expected");
  CHECK(three.verdict(three.sum_of(512, 1023)).find("one block") == std::string::npos);
}

TEST_CASE(
    "a tree over a block that is not a power of two is recognised by its lost or doubled sums") {
  const auto tree = [](const example& e, std::size_t block, std::size_t until) {
    std::vector<std::uint32_t> partial(e.in);
    partial.resize(block);
    for (std::size_t s = block / 2; s > until; s /= 2)
      for (std::size_t i = 0; i < s; ++i) partial[i] += partial[i + s];
    return std::accumulate(partial.begin(), partial.begin() + (until == 0 ? 1 : 64),
                           std::uint32_t{0});
  };
  const char* const odd = "a tree that halves a block whose size is not a power of two";
  const example warp(31), warps(63), full(192);
  warp.says(tree(warp, 320, 0), odd);
  full.says(tree(full, 192, 0), odd);
  warps.says(tree(warps, 192, 32), odd);
  warps.says(tree(warps, 96, 32), odd);
  for (const std::size_t block : {64, 256}) {
    CHECK(warps.verdict(tree(warps, block, 0)) == "");
    CHECK(warps.verdict(tree(warps, block, 32)) == "");
  }
  CHECK(warp.verdict(warp.sum() - warp.in[4] - warp.in[9]).find(odd) == std::string::npos);
}

TEST_CASE("further calls show how often a wrong sum adds which elements") {
  // The explanation of a program that adds element i times(i) times, with at most this many calls.
  const auto explained = [](std::int64_t n, const std::function<std::uint32_t(std::size_t)>& times,
                            int most_calls = 400) {
    const example e(n);
    int calls = 0;
    const auto sum = [&](const problem_call& call) -> std::optional<problem::results> {
      if (calls++ == most_calls) return std::nullopt;
      std::vector<std::uint32_t> in(n);
      std::memcpy(in.data(), call.buffers[0].data.data(), call.buffers[0].bytes);
      std::uint32_t all = 0;
      for (std::size_t i = 0; i < in.size(); ++i) all += times(i) * in[i];
      const auto bytes = std::as_bytes(std::span(&all, 1));
      return problem::results{{bytes.begin(), bytes.end()}};
    };
    const auto outputs = sum(e.call);
    return e.lab.explain(e.call, *outputs, sum);
  };
  CHECK(explained(1023, [](auto i) { return i < 256   ? 2
                                            : i < 512 ? 0
                                                      : 1; }) ==
        "in[0] to in[255] are added twice, and in[256] to in[511] are not added: is the first "
        "index or value used where the second belongs?");
  CHECK(explained(1000, [](auto i) { return i < 500 || i > 503; }) ==
        "in[500] to in[503] are not added. Which thread reads in[500], and which step should add "
        "that thread's sum to the total?");
  CHECK(explained(1023, [](auto i) { return i / 16 % 2 == 0; })
            .starts_with("in[16] to in[31], in[48] to in[63], ... are not added. That is the "
                         "second half of every 32: does a tree"));
  CHECK(explained(65535, [](auto i) { return 1 + i / 4096; })
            .starts_with("in[4096] to in[8191] are added twice, in[8192] to in[12287] 3 times, "
                         "and so on. Another block, or a loop's next pass, reads them again"));
  CHECK(explained(65535, [](auto i) { return i / 1024 % 16 == 0 ? 16 : 0; })
            .starts_with("in[0] to in[1023], in[16384] to in[17407], ... are added 16 times, and "
                         "in[1024] to in[16383]"));
  CHECK(explained(65535, [](auto i) { return i % 4 != 3 ? 1
                                             : i < 4096 ? 2
                                             : i < 8192 ? 0
                                                        : 1; })
            .starts_with("in[3], in[7], ..., in[4095] are added twice, and in[4099], in[4103], "
                         "..., in[8191] are not added: is the first"));
  CHECK(explained(257, [](auto i) { return i == 1 ? 3 : 1; }) ==
        "in[1] is added 3 times. Which loop, block or thread reads it again?");
  CHECK(explained(257, [](auto i) { return i < 64 || i >= 128 ? 1 : 0u - 1; }) ==
        "in[64] to in[127] are subtracted. Which step subtracts a sum, or adds a number with the "
        "wrong sign?");
  // What no call has shown is not said.
  CHECK(explained(
            65535, [](auto i) { return i < 5000; }, 12) == "");
  CHECK(explained(257, [](auto i) { return i == 1 ? 0u - 2 : 1; }) == "");
  CHECK(explained(257, [](auto) { return 1; }) == "");
}

TEST_CASE("a sum that changes from call to call, or is not linear, is not explained") {
  const example e(100);
  std::uint32_t sum = 0;
  const auto other = [&](const problem_call&) -> std::optional<problem::results> {
    const std::uint32_t now = ++sum * 77777;
    const auto bytes = std::as_bytes(std::span(&now, 1));
    return problem::results{{bytes.begin(), bytes.end()}};
  };
  CHECK(e.lab.explain(e.call, *other(e.call), other) == "");
}

TEST_CASE("an output of another size is refused") {
  const example e(8);
  CHECK(e.lab.check(e.call, {}).has_value());
}

}  // namespace reduction_problem_test
