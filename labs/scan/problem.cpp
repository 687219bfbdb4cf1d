// The scan lab's inputs, reference and comparison.
//
// idea    Random integers from the whole range, so a sum that misses, repeats or replaces elements
//         differs. Each sum must be the one before it plus an element, so all cores can compare at
//         once, and the first element for which that is wrong has the first wrong sum.
// tested  labs/scan/tests/problem_test.cpp; the mutants of tests/mutants.txt
#include "common/lab/problem.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "common/lab/in_bands.hpp"
#include "common/lab/random.hpp"
#include "labs/scan/scan.hpp"

namespace stepwise {
namespace {

using words = std::span<const std::uint32_t>;

// Like fill_with_ints, but on all cores. A random number yields two ints, so bands of pairs are
// independent of each other.
void fill(std::span<std::int32_t> values, const random_stream& random) {
  const std::int64_t count = std::ssize(values), pairs = (count + 1) / 2;
  in_bands(pairs, 2 * sizeof(std::int32_t), [&](std::int64_t begin, std::int64_t end) {
    fill_with_ints(values.subspan(2 * begin, std::min(2 * end, count) - 2 * begin),
                   random.after(begin));
  });
}

bool is_next(words in, words out, std::int64_t i) {
  return out[i] == (i == 0 ? 0 : out[i - 1]) + in[i];
}

bool all_right(words in, words out) {
  std::atomic<bool> right = true;
  in_bands(std::ssize(in), 2 * sizeof(std::uint32_t), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end && right; ++i)
      if (!is_next(in, out, i)) right = false;
  });
  return right;
}

// A byte that fills out and scratch before a call, as a word.
constexpr std::uint32_t filled_with(std::uint32_t byte) { return byte * 0x01010101u; }
bool is_filling(std::uint32_t word) { return word != 0 && word == filled_with(word & 0xff); }

std::string hexadecimal(std::uint32_t value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", value);
  return text.data();
}

std::string element(const char* array, std::int64_t i) {
  return array + ("[" + std::to_string(i)) + "]";
}
std::string in_sum(std::int64_t first, std::int64_t last) {
  if (first == last) return element("in", first);
  return element("in", first) + (last == first + 1 ? " + " : " + ... + ") + element("in", last);
}

// Recognises common mistakes in a wrong result by trying them one by one.
class wrong_result {
 public:
  wrong_result(words in, words out) : in_(in), out_(out), right_(in.size()) {
    std::partial_sum(in.begin(), in.end(), right_.begin());
    for (first_ = 0; is_right(first_);) ++first_;
    for (std::int64_t i = first_; i < count(); ++i) {
      if (is_right(i)) continue;
      ++wrong_;
      last_ = i;
      unwritten_ += is_filling(out[i]);
    }
  }

  std::string first() const {
    return element("out", first_) + " = " + std::to_string(out_[first_]) + ", expected " +
           in_sum(0, first_) + " = " + std::to_string(right_[first_]);
  }

  std::string looks_like() const {
    for (const auto guess :
         {&wrong_result::not_written, &wrong_result::zero, &wrong_result::exclusive,
          &wrong_result::copied, &wrong_result::backwards, &wrong_result::total_everywhere,
          &wrong_result::narrow, &wrong_result::with_filling, &wrong_result::multiple,
          &wrong_result::constant_more, &wrong_result::begins_again, &wrong_result::part_missing,
          &wrong_result::part_twice, &wrong_result::other_element, &wrong_result::other_distance}) {
      if (std::string text = (this->*guess)(); !text.empty()) return text;
    }
    return of_all(wrong_) + " wrong, the last one is " + element("out", last_) + ", " +
           no_known_pattern;
  }

 private:
  static constexpr std::int64_t warp = 32, largest_block = 1024, largest_tile = 1 << 15;

  std::int64_t count() const { return std::ssize(in_); }
  bool is_right(std::int64_t i) const { return out_[i] == right_[i]; }
  // The sum of in[begin] to in[end - 1].
  std::uint32_t sum(std::int64_t begin, std::int64_t end) const {
    return (end == 0 ? 0 : right_[end - 1]) - (begin == 0 ? 0 : right_[begin - 1]);
  }
  // By how much the first wrong sum is too large.
  std::uint32_t more() const { return out_[first_] - right_[first_]; }

  std::string of_all(std::int64_t some) const {
    return std::to_string(some) + " of " + std::to_string(count()) +
           (count() == 1 ? " element" : " elements") + (some == 1 ? " is" : " are");
  }

  // True if `rule` gives every element of the result.
  template <class Rule>
  bool explains(Rule rule) const {
    for (std::int64_t i = 0; i < count(); ++i)
      if (out_[i] != rule(i)) return false;
    return true;
  }

  std::string not_written() const {
    if (unwritten_ == count())
      return "these are the bytes that filled out before the call: nothing was written to out";
    if (unwritten_ < wrong_) return "";
    const std::string text = of_all(unwritten_) + " not written";
    if (unwritten_ == count() - first_)
      return text + ", all from " + element("out", first_) +
             " on: does the number of blocks or tiles round up, and does the tail that fills no "
             "vector get its sums?";
    return text + ". The first is " + element("out", first_) + ", and the last is " +
           element("out", last_) + ": does every thread store all of its elements?";
  }

  std::string zero() const {
    if (!explains([](auto) { return 0u; })) return "";
    return count() == 1 ? "the sum is 0: is in[0] itself added to it? The sums are inclusive"
                        : "every sum is 0: are the elements loaded and added?";
  }

  std::string exclusive() const {
    if (!explains([&](auto i) { return i == 0 ? 0 : right_[i - 1]; })) return "";
    return "these are exclusive sums, of the elements before in[i]: this contract's sums are "
           "inclusive, so out[i] also has in[i]";
  }

  std::string copied() const {
    if (!explains([&](auto i) { return in_[i]; })) return "";
    return "out is a copy of in: does each thread add the sum of a thread before it (tid >= "
           "distance, "
           "__shfl_up_sync), from a distance of 1 on?";
  }

  std::string backwards() const {
    if (!explains([&](auto i) { return sum(i, count()); })) return "";
    return "out[i] is the sum of in[i] and all later elements: do the sums run from the end? "
           "__shfl_up_sync gets the value of a lower lane";
  }

  std::string total_everywhere() const {
    if (!explains([&](auto) { return right_.back(); })) return "";
    return "every element is the sum of all of in: that is a reduction. A lane may add only the "
           "values of lower lanes (lane >= distance)";
  }

  std::string narrow() const {
    for (const int bits : {8, 16}) {
      const std::uint32_t kept = (1u << bits) - 1;
      if (explains([&](auto i) { return right_[i] & kept; }))
        return "these are the low " + std::to_string(bits) +
               " bits of the sums: is a sum kept in " + (bits == 8 ? "a char?" : "a short?");
    }
    float sum = 0;
    const bool is_float = first_ < 8 && [&] {
      for (std::int64_t i = 0; i <= first_; ++i) sum += static_cast<float>(in_[i]);
      return sum < 0x1p32f && out_[first_] == static_cast<std::uint32_t>(sum);
    }();
    if (is_float)
      return "this is a sum of floats, and a float holds 24 bits of a number: add unsigned "
             "integers";
    return "";
  }

  // Bytes that filled scratch or out were added.
  std::string with_filling() const {
    for (std::uint32_t byte = 1; byte < 256; ++byte) {
      for (const std::int64_t missing : {std::int64_t{0}, first_}) {  // elements before out[first_]
        if (out_[first_] - sum(missing, first_ + 1) != filled_with(byte) || byte == 0xff) continue;
        return element("out", first_) + " is " + in_sum(missing, first_) + " plus " +
               hexadecimal(filled_with(byte)) +
               ", which filled out and scratch before the call: is every word of scratch stored, "
               "or "
               "set to 0, before a block reads it? cudaMemsetAsync takes bytes";
      }
    }
    return "";
  }

  std::string multiple() const {
    for (std::uint32_t times = 2; times <= 64; ++times) {
      if (!explains([&](auto i) { return times * right_[i]; })) continue;
      return "each sum is " + std::to_string(times) +
             " times the right one: is a sum added to itself, by a shuffle that returns a lane its "
             "own value, or by several threads?";
    }
    return "";
  }

  std::string constant_more() const {
    if (more() > largest_block && -more() > largest_block) return "";
    for (std::int64_t i = first_; i < count(); ++i)
      if (out_[i] - right_[i] != more() && i < first_ + warp) return "";
    const bool is_less = -more() < more();
    return element("out", first_) + " is the right sum " + (is_less ? "minus " : "plus ") +
           std::to_string(is_less ? -more() : more()) +
           ": does every sum begin at 0? Shared memory that was not written holds -1 on the "
           "emulator";
  }

  // Nothing before out[first_], or nothing before its warp or tile, was added.
  std::string begins_again() const {
    if (first_ == 0) return "";
    for (std::int64_t size = 1; size <= std::min(first_, largest_tile); size *= 2) {
      const std::int64_t begin = first_ / size * size;
      if (begin == 0 || out_[first_] != sum(begin, first_ + 1)) continue;
      const std::string text = element("out", first_) + " is " + in_sum(begin, first_) +
                               ": the sum begins again at " + element("in", begin);
      if (begin % warp != 0)
        return text + ". Does each thread add the sum of all elements before its own?";
      return text + (begin == warp
                         ? ". Does each thread add the sum of all warps before its own?"
                         : ". Is the sum of all earlier tiles added to each tile, and of all "
                           "earlier warps to each warp?");
    }
    return "";
  }

  std::string part_missing() const { return part(0u - more(), "missing from", lost); }
  std::string part_twice() const { return part(more(), "added twice to", again); }

  static constexpr const char* lost =
      ": is every sum passed on to all threads, warps and tiles after it, and only after it is "
      "complete?";
  static constexpr const char* again =
      ": does a tile that looks back end at the first sum that includes all earlier tiles, and "
      "does "
      "a loop leave out what was already added?";

  // Some consecutive elements up to out[first_] have this sum.
  std::string part(std::uint32_t found, const char* verb, const char* question) const {
    constexpr std::int64_t most_ends = 1 << 12;
    for (std::int64_t end = first_ + 1; end > std::max<std::int64_t>(0, first_ - most_ends);
         --end) {
      for (std::int64_t size = 1; size <= std::min(end, largest_tile); size *= 2) {
        // Chance fits one in 2^32, so large sizes have to end at a multiple of a warp.
        if (found != sum(end - size, end) || (size > warp && end % warp != 0)) continue;
        return in_sum(end - size, end - 1) + (size == 1 ? " is " : " are ") + verb + " " +
               element("out", first_) + question;
      }
    }
    if (first_ > 0 && found == sum(0, first_ / warp * warp))
      return in_sum(0, first_ / warp * warp - 1) + " are " + verb + " " + element("out", first_) +
             question;
    return "";
  }

  // The last element of the sum is another one.
  std::string other_element() const {
    if (first_ == 0) return "";
    const std::uint32_t last = out_[first_] - right_[first_ - 1];
    for (std::int64_t i = 0; i < std::min(first_, std::int64_t{1} << 16); ++i) {
      if (in_[i] != last) continue;
      return element("out", first_) + " has " + element("in", i) + " instead of " +
             element("in", first_) + ": does the index of the load include the tile?";
    }
    return "";
  }

  // out[i] is the sum up to another element.
  std::string other_distance() const {
    for (std::int64_t by = 1; by <= std::min(largest_block, count()); ++by) {
      for (const std::int64_t d : {by, -by}) {
        const std::int64_t end = first_ + d;
        if (end < 0 || end >= count() || out_[first_] != right_[end]) continue;
        return element("out", first_) + " is the sum up to " + element("in", end) +
               ": do the loads and the stores of a thread use the same index?";
      }
    }
    return "";
  }

  words in_, out_;
  std::vector<std::uint32_t> right_;
  std::int64_t wrong_ = 0, unwritten_ = 0;
  std::int64_t first_ = 0, last_ = 0;
};

words as_words(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::uint32_t*>(bytes.data()),
          bytes.size() / sizeof(std::uint32_t)};
}

class scan_problem : public problem {
 public:
  problem_call make_call(const size& n, std::uint64_t seed) const override {
    const int count = checked(n);
    problem_call call;
    call.label = "n = " + std::to_string(count) + ", seed " + std::to_string(seed);
    call.scalars = {count};
    const std::size_t bytes = count * sizeof(std::uint32_t);
    call.add_input("in", bytes);
    call.add_output("out", bytes);
    call.add_scratch("scratch", scratch_words(count) * sizeof(std::uint32_t));
    fill({reinterpret_cast<std::int32_t*>(call.buffers[0].data.data()),
          static_cast<std::size_t>(count)},
         stream_for(seed, static_cast<std::uint64_t>(count)));
    return call;
  }

  std::optional<std::string> check(
      const problem_call& call,
      std::span<const std::span<const std::byte>> outputs) const override {
    const auto& data = call.buffers.at(0).data;
    if (outputs.size() != 1 || outputs[0].size() != data.size())
      return "scan: expected one output of " + std::to_string(data.size()) + " bytes";
    if (all_right(as_words(data), as_words(outputs[0]))) return std::nullopt;
    const wrong_result wrong(as_words(data), as_words(outputs[0]));
    return "scan: " + wrong.first() + " (" + call.label + "); " + wrong.looks_like();
  }

  // With 1 for every element, out[i] must be i + 1, and shows how many elements were added to it.
  std::string explain(const problem_call& call, const results&,
                      const further_call& again) const override {
    problem_call ones = call;
    const std::size_t count = ones.buffers[0].bytes / sizeof(std::uint32_t);
    std::fill_n(reinterpret_cast<std::uint32_t*>(ones.buffers[0].data.data()), count, 1u);
    const auto outputs = again(ones);
    if (!outputs) return "";
    const words out = as_words(outputs->at(0));
    for (std::size_t i = 0; i < count; ++i) {
      if (out[i] == i + 1) continue;
      const auto more = static_cast<std::int64_t>(out[i]) - static_cast<std::int64_t>(i + 1);
      if (more > static_cast<std::int64_t>(count) || is_filling(out[i])) return "";
      const std::int64_t count_off = more < 0 ? -more : more;
      return "if every element is 1, " + element("out", static_cast<std::int64_t>(i)) + " is " +
             std::to_string(out[i]) + " instead of " + std::to_string(i + 1) + ": " +
             (count_off == 1 ? "an element" : std::to_string(count_off) + " elements") +
             " up to it " + (count_off == 1 ? "is " : "are ") +
             (more < 0 ? "missing" : "added again");
    }
    return "";
  }

  // Every element must be read and its sum written.
  problem_work work(const size& n) const override {
    const double count = checked(n);
    return {2 * sizeof(std::uint32_t) * count, count - 1, "additions"};
  }

 private:
  static int checked(const size& n) {
    if (n.size() != 1 || n[0] < 1 || n[0] > std::numeric_limits<int>::max())
      throw std::invalid_argument("scan: a size is one number n from 1 to 2^31 - 1");
    return static_cast<int>(n[0]);
  }
};

}  // namespace

STEPWISE_PROBLEM(scan_problem)
}  // namespace stepwise
