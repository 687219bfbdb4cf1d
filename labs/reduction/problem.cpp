// The reduction lab's inputs, reference and comparison.
//
// idea    Random integers from the whole range. A sum that misses, repeats or replaces any element
//         differs. Integer sums are exact in any order, so the comparison is ==.
// tested  labs/reduction/tests/problem_test.cpp; the mutants in tests/mutants
#include "common/lab/problem.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "common/lab/in_bands.hpp"
#include "common/lab/random.hpp"
#include "labs/reduction/reduction.hpp"

namespace stepwise {
namespace {

// Sums are taken modulo 2^32, as in the contract. Unsigned addition wraps around by definition.
std::uint32_t sum_of(std::span<const std::int32_t> in) {
  std::atomic<std::uint32_t> sum = 0;
  in_bands(std::ssize(in), sizeof(std::int32_t), [&](std::int64_t begin, std::int64_t end) {
    std::uint32_t part = 0;
    for (const std::int32_t value : in.subspan(begin, end - begin))
      part += static_cast<std::uint32_t>(value);
    sum += part;
  });
  return sum;
}

// Like fill_with_ints, but on all cores. A random number yields two ints, so bands of pairs are
// independent of each other.
void fill(std::span<std::int32_t> values, const random_stream& random) {
  const std::int64_t count = std::ssize(values), pairs = (count + 1) / 2;
  in_bands(pairs, 2 * sizeof(std::int32_t), [&](std::int64_t begin, std::int64_t end) {
    fill_with_ints(values.subspan(2 * begin, std::min(2 * end, count) - 2 * begin),
                   random.after(begin));
  });
}

std::string plural(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

bool one_byte_repeated(std::uint32_t value) { return value == (value & 0xff) * 0x01010101u; }

std::string hexadecimal(std::uint32_t value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", value);
  return text.data();
}

// Recognises common mistakes in a wrong sum by trying them one by one. The text is empty if none
// fits. For large n only a few candidates are tried, so that a match by chance stays unlikely.
class wrong_sum {
 public:
  wrong_sum(std::span<const std::int32_t> in, std::uint32_t expected, std::uint32_t found)
      : in_(in), expected_(expected), found_(found) {}

  std::string looks_like() const {
    for (const auto guess :
         {&wrong_sum::left_as_it_was, &wrong_sum::in_float, &wrong_sum::first_alone,
          &wrong_sum::without_an_end, &wrong_sum::first_part, &wrong_sum::multiple,
          &wrong_sum::every_second, &wrong_sum::one_element}) {
      if (std::string text = (this->*guess)(); !text.empty()) return text;
    }
    return "";
  }

 private:
  std::string left_as_it_was() const {
    if (one_byte_repeated(found_) && found_ != 0) {
      return "these are the bytes " + hexadecimal(found_) +
             " that filled out before the call: nothing was written to out";
    }
    if (const std::uint32_t more = found_ - expected_; one_byte_repeated(more)) {
      return "this is the sum plus " + hexadecimal(more) +
             ", which filled out and scratch before the call: store the sum, do not add it to what "
             "is there, and add up no more of scratch than was stored";
    }
    if (found_ == 0) return "the sum that is stored is 0: was anything added to it?";
    return "";
  }

  // A few elements, added as floats. Such a sum loses all bits beyond 24.
  std::string in_float() const {
    float sum = 0;
    for (const std::int32_t value : in_.first(std::min<std::size_t>(in_.size(), 3)))
      sum += static_cast<float>(value);
    const bool fits = in_.size() <= 3 && std::abs(sum) < 0x1p31f;
    if (!fits || found_ != static_cast<std::uint32_t>(static_cast<std::int32_t>(sum))) return "";
    return "this is the sum of floats, which hold 24 bits of a number: add ints";
  }

  std::string first_alone() const {
    if (found_ != static_cast<std::uint32_t>(in_[0])) return "";
    return "this is in[0] alone: no other element was added to it";
  }

  // The last or the first elements are missing, up to a few blocks' worth.
  std::string without_an_end() const {
    constexpr std::size_t most = 4096;
    std::uint32_t without_last = expected_, without_first = expected_;
    for (std::size_t missing = 1; missing < std::min(in_.size(), most); ++missing) {
      without_last -= static_cast<std::uint32_t>(in_[in_.size() - missing]);
      without_first -= static_cast<std::uint32_t>(in_[missing - 1]);
      if (found_ == without_last) {
        const std::size_t part = in_.size() - missing;
        return "the last " + (missing == 1 ? "element is" : plural(missing, "element") + " are") +
               " missing - does the kernel handle n that is not a multiple of the block, and is "
               "every sum complete before another thread reads it?" +
               (part >= 32 && std::has_single_bit(part)
                    ? " Or is this the first block of " + std::to_string(part) + " alone?"
                    : "");
      }
      if (found_ == without_first) {
        return "the first " + (missing == 1 ? "element is" : plural(missing, "element") + " are") +
               " missing";
      }
    }
    return "";
  }

  // Only the first elements are added, as many as a power of two: one warp or one block, say.
  std::string first_part() const {
    for (std::size_t part = 2; part < in_.size(); part *= 2) {
      if (found_ != sum_of(in_.first(part))) continue;
      const bool largest = 2 * part > in_.size();
      return "this is the sum of the first " + plural(part, "element") + " only - " +
             (largest ? "does the kernel handle n that is not a power of two?"
                      : "are the sums of all blocks added up?");
    }
    return "";
  }

  std::string multiple() const {
    for (std::uint32_t times = 2; times <= 4; ++times) {
      if (found_ == times * expected_) {
        return "this is " + std::to_string(times) + " times the sum: is every element added " +
               std::to_string(times) + " times?";
      }
    }
    return "";
  }

  std::string every_second() const {
    std::uint32_t even = 0;
    for (std::size_t i = 0; i < in_.size(); i += 2) even += static_cast<std::uint32_t>(in_[i]);
    if (found_ == even) return "this is the sum of every second element, in[0] + in[2] + ...";
    if (found_ == expected_ - even) {
      return "this is the sum of every second element, in[1] + in[3] + ...";
    }
    return "";
  }

  std::string one_element() const {
    if (in_.size() > 65536) return "";
    for (std::size_t i = 0; i < in_.size(); ++i) {
      const auto value = static_cast<std::uint32_t>(in_[i]);
      const std::string name = "in[" + std::to_string(i) + "]";
      if (found_ == value) return "this is " + name + " alone";
      if (found_ == expected_ - value) return name + " is missing from the sum";
      if (found_ == expected_ + value) return name + " is added twice";
    }
    return "";
  }

  std::span<const std::int32_t> in_;
  std::uint32_t expected_, found_;
};

class reduction_problem : public problem {
 public:
  problem_call make_call(const size& n, std::uint64_t seed) const override {
    const int count = checked(n);
    problem_call call;
    call.label = "n = " + std::to_string(count) + ", seed " + std::to_string(seed);
    call.scalars = {count};
    call.add_input("in", count * sizeof(std::int32_t));
    call.add_output("out", sizeof(std::int32_t));
    call.add_scratch("scratch", scratch_ints(count) * sizeof(std::int32_t));
    fill({reinterpret_cast<std::int32_t*>(call.buffers[0].data.data()),
          static_cast<std::size_t>(count)},
         stream_for(seed, static_cast<std::uint64_t>(count)));
    return call;
  }

  std::optional<std::string> check(
      const problem_call& call,
      std::span<const std::span<const std::byte>> outputs) const override {
    const auto& data = call.buffers.at(0).data;
    const std::span<const std::int32_t> in(reinterpret_cast<const std::int32_t*>(data.data()),
                                           data.size() / sizeof(std::int32_t));
    if (outputs.size() != 1 || outputs[0].size() != sizeof(std::uint32_t)) {
      return "reduction: expected one output of 4 bytes";
    }
    std::uint32_t found = 0;
    std::memcpy(&found, outputs[0].data(), sizeof found);
    const std::uint32_t expected = sum_of(in);
    if (found == expected) return std::nullopt;
    std::string message = "reduction: out = " + std::to_string(static_cast<std::int32_t>(found)) +
                          ", expected " + std::to_string(static_cast<std::int32_t>(expected)) +
                          " (" + call.label + ")";
    const std::string guess = wrong_sum(in, expected, found).looks_like();
    return guess.empty() ? message : message + "; " + guess;
  }

  // Every element must be read and one sum written.
  problem_work work(const size& n) const override {
    const double count = checked(n);
    return {sizeof(std::int32_t) * (count + 1), count - 1, "additions"};
  }

 private:
  static int checked(const size& n) {
    if (n.size() != 1 || n[0] < 1 || n[0] > std::numeric_limits<int>::max()) {
      throw std::invalid_argument("reduction: a size is one number n from 1 to 2^31 - 1");
    }
    return static_cast<int>(n[0]);
  }
};

}  // namespace

STEPWISE_PROBLEM(reduction_problem)
}  // namespace stepwise
