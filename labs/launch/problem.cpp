// The launch lab's inputs, reference and comparison.
//
// idea    Whole numbers from [-2^21, 2^21), so that every sum is exact and the comparison is ==.
//         Within a stretch of 2^22 elements, no two elements of x are equal, and no two of y. x and
//         y have different orders, so a sum of the wrong elements is a wrong sum.
// tested  labs/launch/tests/problem_test.cpp; the mutants of tests/mutants.txt
#include "common/lab/problem.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>

#include "common/lab/ceil_div.hpp"
#include "common/lab/in_bands.hpp"
#include "common/lab/random.hpp"
#include "labs/launch/launch.hpp"

namespace stepwise {
namespace {

constexpr int number_bits = 22;  // bits per number in x or y
constexpr std::int64_t different = std::int64_t{1} << number_bits;

// The value of an element that is filled with a byte. One byte, repeated, fills z before a call.
constexpr float filled_with(std::uint32_t byte) { return std::bit_cast<float>(byte * 0x01010101u); }

bool is_left_as_it_was(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return bits != 0 && bits == (bits & 0xff) * 0x01010101u;
}

constexpr bool is_a_sum(float value) {
  return value >= -different && value <= different && value == static_cast<float>(int(value));
}
static_assert([] {
  for (std::uint32_t byte = 1; byte < 256; ++byte)
    if (is_a_sum(filled_with(byte))) return false;
  return true;
}());

// A random permutation of 0, ..., 2^22 - 1: each line of operator() can be undone.
class permutation {
 public:
  explicit permutation(random_stream random)
      : mask_(static_cast<std::uint32_t>(random.next())),
        first_(static_cast<std::uint32_t>(random.next()) | 1),
        second_(static_cast<std::uint32_t>(random.next()) | 1) {}

  std::uint32_t operator()(std::uint32_t value) const {
    constexpr std::uint32_t all = different - 1;
    value = ((value ^ mask_) * first_) & all;
    value ^= value >> 11;
    value = (value * second_) & all;
    return value ^ (value >> 9);
  }

 private:
  std::uint32_t mask_, first_, second_;
};

// Every stretch of 2^22 elements has its own permutation, so no stretch is a copy of another.
void fill(std::span<float> values, const random_stream& random) {
  in_bands(std::ssize(values), sizeof(float), [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t stretch = begin / different;
      const std::int64_t stop = std::min(end, (stretch + 1) * different);
      const permutation permuted(random.after(3 * stretch));
      for (; begin < stop; ++begin) {
        const auto number = permuted(static_cast<std::uint32_t>(begin % different));
        values[begin] = static_cast<float>(static_cast<std::int64_t>(number) - different / 2);
      }
    }
  });
}

struct arrays {
  std::span<const float> x, y, z;
  std::int64_t count() const { return std::ssize(z); }
  float expected(std::int64_t i) const { return x[i] + y[i]; }
  bool is_right(std::int64_t i) const { return z[i] == expected(i); }  // NaN equals nothing
};

bool all_right(const arrays& a) {
  std::atomic<bool> right = true;
  in_bands(a.count(), 3 * sizeof(float), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end && right; ++i)
      if (!a.is_right(i)) right = false;
  });
  return right;
}

std::string as_text(float value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", static_cast<double>(value));
  return text.data();
}

std::string element(const char* array, std::int64_t i) {
  return array + ("[" + std::to_string(i)) + "]";
}

// Recognises common mistakes in a wrong result by trying them one by one.
class wrong_result {
 public:
  explicit wrong_result(const arrays& a) : a_(a) {
    for (std::int64_t i = 0; i < a.count(); ++i) {
      if (a.is_right(i)) continue;
      if (wrong_++ == 0) first_ = i;
      last_ = i;
      nan_ += a.z[i] != a.z[i];
      if (is_left_as_it_was(a.z[i])) {
        if (unwritten_++ == 0) first_unwritten_ = i;
      } else if (first_written_ < 0) {
        first_written_ = i;
      }
    }
  }

  std::string first() const {
    return element("z", first_) + " = " + as_text(a_.z[first_]) + ", expected " +
           element("x", first_) + " + " + element("y", first_) + " = " + as_text(a_.x[first_]) +
           " + " + as_text(a_.y[first_]) + " = " + as_text(a_.expected(first_));
  }

  std::string looks_like() const {
    for (const auto guess :
         {&wrong_result::not_written, &wrong_result::nan, &wrong_result::one_array,
          &wrong_result::bits_added, &wrong_result::neighbour, &wrong_result::added_to_garbage,
          &wrong_result::running_sum, &wrong_result::close}) {
      if (std::string text = (this->*guess)(); !text.empty()) return text;
    }
    return of_all(wrong_) + " wrong, the last one is " + element("z", last_) + ", " +
           no_known_pattern;
  }

 private:
  std::string of_all(std::int64_t some) const {
    return std::to_string(some) + " of " + std::to_string(a_.count()) +
           (a_.count() == 1 ? " element" : " elements") + (some == 1 ? " is" : " are");
  }

  // True if `rule` explains every wrong element that was written from its index.
  template <class Rule>
  bool explains(Rule rule) const {
    for (std::int64_t i = first_; i <= last_; ++i)
      if (!a_.is_right(i) && !is_left_as_it_was(a_.z[i]) && a_.z[i] != rule(i)) return false;
    return true;
  }

  static constexpr std::int64_t warp = 32, smallest_block = warp, largest_block = 1024;
  static constexpr const char* shared_index =
      "Does each thread have an int of its own as the index, and not a reference or a static, "
      "__shared__ "
      "or __device__ variable that other threads change?";
  static constexpr const char* in_float =
      ". Is the index a float, which holds integers exactly only up to 2^24? Use an int";
  static constexpr const char* not_exchanged =
      "Is the index blockIdx.x * blockDim.x + threadIdx.x, and is the launch <<<blocks, "
      "threads>>>, "
      "in this order?";

  // True if exactly the elements for which `rule` holds are unwritten.
  template <class Rule>
  bool is_unwritten_where(Rule rule) const {
    for (std::int64_t i = 0; i < a_.count(); ++i)
      if (rule(i) != (!a_.is_right(i) && is_left_as_it_was(a_.z[i]))) return false;
    return true;
  }

  std::string not_written() const {
    if (unwritten_ == a_.count()) {
      return "these are the bytes that filled z before the call: nothing was written to z. Does "
             "the kernel store to z wherever the index is below n, and is that the index of a "
             "thread and not a stride?";
    }
    if (unwritten_ == 0 || unwritten_ < wrong_) return "";
    const std::string text = of_all(unwritten_) + " not written";
    if (first_unwritten_ == 0 && unwritten_ == last_ + 1) return text + beginning();
    if (unwritten_ == a_.count() - first_unwritten_) {
      return text + ", all from " + element("z", first_unwritten_) + " on. " + end();
    }
    if (const std::string pattern = gaps(); !pattern.empty()) return text + pattern;
    return text + ". The first is " + element("z", first_unwritten_) + ", and the last is " +
           element("z", last_) + ". How far does a thread advance?";
  }

  // All elements before a certain index are unwritten.
  std::string beginning() const {
    if (unwritten_ == 1)
      return ", which is " + element("z", 0) + ". Is 1 added to the index, or is index 0 excluded?";
    return ", all before " + element("z", unwritten_) +
           ". Does a thread's loop begin at its index, and add the stride only afterwards?";
  }

  // All elements from a certain index on are unwritten. The code's index and grid decide which.
  std::string end() const {
    const std::int64_t n = a_.count(), from = first_unwritten_;
    const std::string first = "the first " + std::to_string(from) + " elements";
    if (from == 1 << 15 || from == 1 << 16)
      return "Is the index a short, which has 16 bits? Use an int";
    if (n - from == n % 4 && from % smallest_block != 0)
      return "Does a thread add the last elements, from n / 4 * 4 on, if n is not a multiple of 4, "
             "and is i < n the condition of the others?";
    if (from >= smallest_block && from <= largest_block && (from & (from - 1)) == 0)
      return "Only one block of " + std::to_string(from) +
             " threads adds. Is blockIdx.x in the index, are the grid's blocks in x, " +
             (from <= 256 ? "is the index wider than a char, " : "") + "and does " +
             "the number of blocks round up?";
    for (std::int64_t size = smallest_block; size <= largest_block; size *= 2) {
      const std::int64_t blocks = ceil_div(n, size);
      const std::string grid =
          std::to_string(blocks) + " blocks of " + std::to_string(size) + " threads";
      if (blocks == 1) break;
      if (n - from < size && from % size == 0)
        return std::string("Does the number of blocks round up?") +
               (from > 1 << 16 ? " If it does, but is limited, does each thread have a loop?" : "");
      if (blocks <= 2) continue;
      if (from == blocks * size / warp)
        return "Each of " + std::to_string(from) +
               " warps writes one element. Is threadIdx.x in the index? " + shared_index;
      if (from == blocks)
        return "Each of " + grid +
               " writes one element. Is threadIdx.x in the index, and are the block's threads in "
               "x?";
      if (from == blocks - 1 + size)
        return grid + " write " + first +
               " if they begin 1 element apart. Is blockIdx.x "
               "multiplied by blockDim.x?";
      if (from == (blocks - 1) * blocks + size)
        return grid + " write " + first +
               " if they begin gridDim.x elements apart. Is blockIdx.x "
               "multiplied by gridDim.x instead of blockDim.x?";
      if (from == (size - 1) * size + blocks)
        return grid + " write " + first + " if threadIdx.x is multiplied by blockDim.x. " +
               not_exchanged;
    }
    if (const std::string text = several_each(from); !text.empty()) return text;
    if (n > largest_block && from == n / 4)
      return "That is n / 4. Is a size in bytes mistaken for a number of elements, or the reverse?";
    return "Are there threads for all of n, and for a last block that is not full?";
  }

  // A thread adds `part` elements, and too few blocks start, or every block begins too early. Both
  // may fit, with different blocks.
  std::string several_each(std::int64_t from) const {
    std::int64_t few = 0, apart = 0;
    bool overlap = false;
    for (std::int64_t size = smallest_block; size <= largest_block; size *= 2) {
      for (const std::int64_t part : {2, 4, 8}) {
        const std::int64_t blocks = ceil_div(a_.count(), part * size);
        if (few == 0 && size * 2 < a_.count() && from == blocks * size) few = part;
        overlap = overlap || (blocks > 1 && from == (blocks - 1 + part) * size);
        if (blocks > 1 && from == (blocks - 1 + size) * part) apart = part;
      }
    }
    const std::string early =
        "locks overlap if a block begins after the threads, not after the elements, of the one "
        "before. Is blockIdx.x multiplied by all elements that a block adds?";
    if (few == 0 && !overlap && apart != 0)
      return "The blocks begin " + std::to_string(apart) +
             " elements apart if blockIdx.x is multiplied by the elements of a thread only. Is it "
             "also multiplied by blockDim.x?";
    if (few == 0) return overlap ? "B" + early : "";
    return "There are threads for only 1 element in " + std::to_string(few) +
           ". Is the number of blocks computed for as many elements as a thread adds" +
           (few == 4 ? ", and in elements, not in bytes?" : "?") + (overlap ? " Or b" + early : "");
  }

  // Unwritten elements alternate with written ones.
  std::string gaps() const {
    const std::int64_t n = a_.count();
    if (n > 4 && is_unwritten_where([](auto i) { return i % 4 != 0; }))
      return ". Only z[0], z[4], ... are. Is the index multiplied by 4 as if it counted bytes, or "
             "does a thread add only the first of its 4 elements?";
    if (is_unwritten_where([](auto i) { return i > 1 << 24 && i % 2 != 0; })) return in_float;
    std::int64_t first = 0, end = 0;  // the first written elements
    while (first < n && is_left_as_it_was(a_.z[first])) ++first;
    for (end = first; end < n && !is_left_as_it_was(a_.z[end]);) ++end;
    for (std::int64_t size = smallest_block; size <= largest_block && size < n; size *= 2) {
      const std::int64_t blocks = ceil_div(n, size);
      // Elements first to end - 1 of every `period` are written.
      const auto repeats = [&](std::int64_t period) {
        return is_unwritten_where([&](auto i) { return i % period < first || i % period >= end; });
      };
      const std::string written = ". Only " + std::to_string(end - first) + " of every ";
      const std::string from = " are, from " + element("z", first) + " on. ";
      if (first == 0 && end == size && repeats(blocks))
        return written + std::to_string(blocks) + from +
               "Is blockIdx.x multiplied by gridDim.x instead of blockDim.x?";
      for (const std::int64_t part : {1, 2, 4, 8})  // elements of a thread
        if (first == 0 && end == ceil_div(n, part * size) && repeats(size))
          return written + std::to_string(size) + from + not_exchanged;
      if (end - first <= size / smallest_block && repeats(size))
        return written + std::to_string(size) + from +
               (first == 0 && end == 1
                    ? "Is threadIdx.x in the index, and are the block's threads in x? "
                    : "") +
               shared_index;
    }
    std::int64_t again = end;  // the first element that is written after a gap
    while (again < n && is_left_as_it_was(a_.z[again])) ++again;
    // There is only one gap, before the last elements, which fill no vector.
    if (first == 0 && again == n / 4 * 4 && unwritten_ == again - end)
      return ", all from " + element("z", end) + " to " + element("z", again - 1) +
             (again - end == 4
                  ? ". Does the condition let the last vector pass, and does the number of "
                    "blocks round up, after each division?"
                  : ". Does the number of blocks round up, after each division?");
    if (first >= smallest_block && end % first == 0 &&
        is_unwritten_where([&](auto i) { return i % end < first; }))
      return missing_of_thread("first", first, end);
    if (first != 0 || !is_unwritten_where([&](auto i) { return i % again >= end; })) return "";
    if (again % (again - end) == 0 && 2 * end > again && again - end >= smallest_block)
      return missing_of_thread("last", again - end, again);
    for (std::int64_t size = smallest_block; size <= largest_block; size *= 2) {
      const std::int64_t part = again / size;  // elements of a thread
      if (part > 1 && again == part * size && end == size + part - 1)
        return ". Only " + std::to_string(end) + " of every " + std::to_string(again) +
               " are. Each thread adds " + std::to_string(part) +
               " elements side by side, which other threads add, too: is element k of a thread k * "
               "blockDim.x after its first one?";
    }
    return ". Only " + std::to_string(end) + " of every " + std::to_string(again) +
           " are, from z[0] on. How far does a thread advance? A grid has gridDim.x * blockDim.x "
           "threads";
  }

  // Each thread adds several elements, one block's width apart, and omits one of them.
  static std::string missing_of_thread(const char* which, std::int64_t some, std::int64_t all) {
    return ". The " + std::string(which) + " " + std::to_string(some) + " of every " +
           std::to_string(all) + " are missing: the " + which + " element of each thread, if " +
           std::to_string(some) + " threads add " + std::to_string(all / some) +
           " elements each. Is it both loaded and stored? (The compiler leaves out a store whose "
           "value is never set.)";
  }

  std::string nan() const {
    if (nan_ == 0) return "";
    return of_all(nan_) +
           " NaN, and x and y hold none: does each thread set the variables, and the elements of "
           "its own arrays, that it adds? If one is never set, the compiler may make the whole sum "
           "NaN";
  }

  std::string one_array() const {
    if (explains([&](auto i) { return a_.x[i]; })) return "this is x alone: y was not added";
    if (explains([&](auto i) { return a_.y[i]; })) return "this is y alone: x was not added";
    if (explains([&](auto i) { return 2 * a_.x[i] + a_.y[i]; })) return "x is added twice";
    if (explains([&](auto i) { return a_.x[i] + 2 * a_.y[i]; })) return "y is added twice";
    if (explains([&](auto i) { return a_.x[i] + a_.x[i]; }))
      return "this is x + x: is the second number read from y?";
    if (explains([&](auto i) { return a_.y[i] + a_.y[i]; }))
      return "this is y + y: is the first number read from x?";
    if (explains([&](auto i) { return a_.x[i] - a_.y[i]; })) return "this is x - y";
    if (explains([&](auto i) { return a_.x[i] * a_.y[i]; })) return "this is x * y";
    return "";
  }

  // Floats that are read as integers, and integers that are converted when they are stored.
  std::string bits_added() const {
    const auto sum = [&](std::int64_t i) {
      return std::bit_cast<std::uint32_t>(a_.x[i]) + std::bit_cast<std::uint32_t>(a_.y[i]);
    };
    if (!explains([&](auto i) { return static_cast<float>(static_cast<std::int32_t>(sum(i))); }) &&
        !explains([&](auto i) { return static_cast<float>(sum(i)); }))
      return "";
    return "these are the bits of x and y, added as integers: are x and y read as float or float4, "
           "and not as int or int4?";
  }

  // Elements from a fixed distance before or after the right one were read, in one or both arrays.
  std::string neighbour() const {
    const std::int64_t end = a_.count() - 1;
    if (wrong_ > 1 && explains([&](auto i) { return a_.expected(end - i); }))
      return "z[i] is x[n - 1 - i] + y[n - 1 - i]: does the index of z count down?";
    constexpr std::int64_t furthest = 1024;
    for (std::int64_t by = 1; by <= furthest; ++by) {
      for (const std::int64_t d : {by, -by}) {
        const auto at = [&](std::span<const float> array, std::int64_t i) {
          return i + d >= 0 && i + d < a_.count() ? array[i + d]
                                                  : std::numeric_limits<float>::quiet_NaN();
        };
        const auto sum = [&](std::int64_t in_x, std::int64_t in_y) {
          return element("z", first_written_) + " is " + element("x", first_written_ + in_x) +
                 " + " + element("y", first_written_ + in_y) +
                 ": do x, y and z have the same index?";
        };
        if (explains([&](auto i) { return at(a_.x, i) + at(a_.y, i); })) return sum(d, d);
        if (explains([&](auto i) { return a_.x[i] + at(a_.y, i); })) return sum(0, d);
        if (explains([&](auto i) { return at(a_.x, i) + a_.y[i]; })) return sum(d, 0);
      }
    }
    return "";
  }

  std::string added_to_garbage() const {
    for (std::uint32_t byte = 1; byte < 256; ++byte) {
      if (explains([&](auto i) { return filled_with(byte) + a_.expected(i); })) {
        return "this is the sum plus " + as_text(filled_with(byte)) +
               ", which filled z before the call: store the sum, do not add it to what is there";
      }
    }
    return "";
  }

  // Each wrong element is its own sum plus the result of the element a fixed distance before it.
  std::string running_sum() const {
    constexpr std::int64_t furthest = 1024;
    for (std::int64_t by = 1; by <= std::min(furthest, first_); ++by) {
      if (!explains(
              [&](auto i) { return i < by ? a_.expected(i) : a_.z[i - by] + a_.expected(i); }))
        continue;
      return element("z", first_) + " is " + element("z", first_ - by) + " + " +
             element("x", first_) + " + " + element("y", first_) +
             ": does a thread's sum begin at 0 for each of its elements?";
    }
    return "";
  }

  // The inputs are integers, so a sum that lost less than 1, or its last bits, was converted.
  std::string close() const {
    for (std::int64_t i = first_; i <= last_; ++i) {
      const float right = a_.expected(i);
      if (!(std::abs(a_.z[i] - right) <= std::max(1.0f, std::abs(right) / 64))) return "";
    }
    return of_all(wrong_) +
           " close to the sum, but not equal to it: is the sum rounded, or kept in a narrower type "
           "than float?";
  }

  const arrays& a_;
  std::int64_t wrong_ = 0, unwritten_ = 0, nan_ = 0;
  std::int64_t first_ = 0, last_ = 0, first_unwritten_ = 0;
  std::int64_t first_written_ = -1;  // the first wrong element that was written
};

// Finds out from two further calls which elements of x and y each z[i] is the sum of.
//
// idea    x[i] is i + 1 and y is 0, or the other way round, so every z[i] names an element.
class sources {
 public:
  sources(const problem_call& call, const problem::further_call& again)
      : call_(call), again_(again) {}

  // "z[256] is x[0] + y[0], ...". Empty if the sums of those elements are not this result.
  std::string text(const arrays& a) {
    if (a.count() >= different) return "";
    const auto of_x = elements_of(0), of_y = elements_of(1);
    if (of_x.empty() || of_y.empty()) return "";
    std::string text;
    int named = 0;
    for (std::int64_t i = 0; i < a.count(); ++i) {
      const float x = of_x[i] < 0 ? 0 : a.x[of_x[i]], y = of_y[i] < 0 ? 0 : a.y[of_y[i]];
      if (!is_left_as_it_was(a.z[i]) && a.z[i] != x + y) return "";
      const bool is_next = i == 0 || of_x[i] != of_x[i - 1] + 1 || of_y[i] != of_y[i - 1] + 1;
      if (a.is_right(i) || is_left_as_it_was(a.z[i]) || (!is_next && named > 0)) continue;
      if (++named > most_named) continue;
      text += (named == 1 ? "" : ", ") + element("z", i) + " is " + name("x", of_x[i]) + " + " +
              name("y", of_y[i]);
    }
    if (named == 0) return "";
    return text + (named > most_named ? ", and so on" : "") +
           ": do the loads, the sum and the store use the same index, and the same k in a thread's "
           "own arrays?";
  }

 private:
  static constexpr int most_named = 3;

  static std::string name(const char* array, std::int64_t i) {
    return i < 0 ? "0" : element(array, i);
  }

  // For each i, the element of this input that z[i] has, or -1. Empty if z[i] has no single one.
  std::vector<std::int64_t> elements_of(int input) {
    const std::size_t count = call_.buffers[0].bytes / sizeof(float);
    for (const int k : {0, 1}) {
      auto* const to = reinterpret_cast<float*>(call_.buffers[k].data.data());
      for (std::size_t i = 0; i < count; ++i) to[i] = k == input ? static_cast<float>(i + 1) : 0;
    }
    const auto outputs = again_(call_);
    if (!outputs) return {};
    const auto* const z = reinterpret_cast<const float*>(outputs->at(0).data());
    std::vector<std::int64_t> elements(count, -1);
    for (std::size_t i = 0; i < count; ++i) {
      if (is_left_as_it_was(z[i])) continue;
      if (!(z[i] >= 0 && z[i] <= static_cast<float>(count)) || z[i] != std::floor(z[i])) return {};
      elements[i] = static_cast<std::int64_t>(z[i]) - 1;
    }
    return elements;
  }

  problem_call call_;
  const problem::further_call& again_;
};

std::span<const float> floats(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

class launch_problem : public problem {
 public:
  problem_call make_call(const size& n, std::uint64_t seed) const override {
    const std::int64_t count = checked(n);
    problem_call call;
    call.label = "n = " + std::to_string(count) + ", seed " + std::to_string(seed);
    call.scalars = {count};
    const std::size_t bytes = count * sizeof(float);
    call.add_input("x", bytes);
    call.add_input("y", bytes);
    call.add_output("z", bytes);
    for (const std::uint64_t array : {0, 1}) {
      fill({reinterpret_cast<float*>(call.buffers[array].data.data()),
            static_cast<std::size_t>(count)},
           stream_for(seed, 2 * static_cast<std::uint64_t>(count) + array));
    }
    return call;
  }

  std::optional<std::string> check(
      const problem_call& call,
      std::span<const std::span<const std::byte>> outputs) const override {
    const auto& x = call.buffers.at(0).data;
    if (outputs.size() != 1 || outputs[0].size() != x.size()) {
      return "launch: expected one output of " + std::to_string(x.size()) + " bytes";
    }
    const arrays a{floats(x), floats(call.buffers.at(1).data), floats(outputs[0])};
    if (all_right(a)) return std::nullopt;
    const wrong_result wrong(a);
    return "launch: " + wrong.first() + " (" + call.label + "); " + wrong.looks_like();
  }

  std::string explain(const problem_call& call, const results& outputs,
                      const further_call& again) const override {
    return sources(call, again)
        .text({floats(call.buffers.at(0).data), floats(call.buffers.at(1).data),
               floats(outputs.at(0))});
  }

  // For each addition, two numbers must be read and one written.
  problem_work work(const size& n) const override {
    const auto count = static_cast<double>(checked(n));
    return {3 * sizeof(float) * count, count, "additions"};
  }

 private:
  static std::int64_t checked(const size& n) {
    if (n.size() != 1 || n[0] < 1 || n[0] > std::int64_t{1} << 30) {
      throw std::invalid_argument("launch: a size is one number n from 1 to 2^30");
    }
    return n[0];
  }
};

}  // namespace

STEPWISE_PROBLEM(launch_problem)
}  // namespace stepwise
