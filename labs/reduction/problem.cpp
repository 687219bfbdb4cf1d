// The reduction lab's inputs, reference and comparison.
//
// idea    Random integers from the whole range. A sum that misses, repeats or replaces any element
//         differs. Integer sums are exact in any order, so the comparison is ==.
// tested  labs/reduction/tests/problem_test.cpp; the mutants of tests/mutants.txt
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

#include "common/lab/ceil_div.hpp"
#include "common/lab/in_bands.hpp"
#include "common/lab/random.hpp"
#include "labs/reduction/reduction.hpp"
#include "labs/reduction/times_added.hpp"

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
         {&wrong_sum::left_as_it_was, &wrong_sum::with_filling,     &wrong_sum::in_float,
          &wrong_sum::shuffled_up,    &wrong_sum::first_alone,      &wrong_sum::unwritten_shared,
          &wrong_sum::began_at_1,     &wrong_sum::multiple,         &wrong_sum::low_bits,
          &wrong_sum::of_launch_two,  &wrong_sum::one_block,        &wrong_sum::without_an_end,
          &wrong_sum::first_part,     &wrong_sum::blocks_too_close, &wrong_sum::odd_tree,
          &wrong_sum::regular,        &wrong_sum::tail_again,       &wrong_sum::end_twice,
          &wrong_sum::step_too_short, &wrong_sum::one_block_stored, &wrong_sum::one_element,
          &wrong_sum::two_elements}) {
      if (std::string text = (this->*guess)(); !text.empty()) return text;
    }
    return "";
  }

 private:
  static constexpr std::size_t warp = 32, smallest_block = warp, largest_block = 1024;
  static constexpr std::size_t most_read_often = 1 << 23;

  std::uint32_t at(std::size_t i) const { return static_cast<std::uint32_t>(in_[i]); }
  std::string element(std::size_t i) const { return "in[" + std::to_string(i) + "]"; }
  // in[first] to in[end - 1], added
  std::string sum_text(std::size_t first, std::size_t end) const {
    if (end == first + 1) return element(first);
    return element(first) + (end == first + 2 ? " + " : " + ... + ") + element(end - 1);
  }
  // Element i is the sum of all elements before in[i].
  std::vector<std::uint32_t> sums_before() const {
    std::vector<std::uint32_t> sums(in_.size() + 1);
    for (std::size_t i = 0; i < in_.size(); ++i) sums[i + 1] = sums[i] + at(i);
    return sums;
  }
  std::size_t blocks_of(std::size_t size) const { return ceil_div(in_.size(), size); }

  static constexpr std::size_t widest_load = 4;  // ints
  std::string left_as_it_was() const {
    if (found_ == 0)
      return "the sum that is stored is 0: was anything added to it, and does the thread that "
             "stores it hold the sum (thread 0 of a tree, lane 0 after __shfl_down_sync)?" +
             std::string(in_.size() < widest_load
                             ? " With wide loads, are the last elements added, too?"
                             : "");
    if (!one_byte_repeated(found_)) return "";
    return "these are the bytes " + hexadecimal(found_) +
           " that filled out before the call: nothing was written to out" +
           (in_.size() > smallest_block
                ? " - does a last launch add up the sums of the blocks and store the total there?"
                : "");
  }

  // The sum was added to the bytes that filled out, or to the bytes that cudaMemset did not set.
  std::string with_filling() const {
    const std::uint32_t more = found_ - expected_, filling = (more >> 24) * 0x01010101u;
    if (filling == 0 || filling == 0xffffffff) return "";  // 0xffffffff: see unwritten_shared()
    if (more == filling) {
      return "this is the sum plus " + hexadecimal(more) +
             ", which filled out and scratch before the call: store the sum, do not add it to what "
             "is there, and add up no more of scratch than was stored";
    }
    for (const int bytes : {1, 2, 3}) {
      if (more != filling >> 8 * bytes << 8 * bytes) continue;
      return "this is the sum plus " + hexadecimal(more) + ": " + hexadecimal(filling) +
             " filled out before the call, and only " + plural(bytes, "byte") +
             " of it became 0 - the size that cudaMemset takes is in bytes";
    }
    const std::uint32_t old = (found_ >> 24) * 0x01010101u;
    if (old == 0 || old == 0xffffffff) return "";  // see low_bits()
    for (const int bytes : {1, 2, 3}) {
      const int low = 8 * bytes;
      if (found_ << (32 - low) != expected_ << (32 - low) || found_ >> low != old >> low) continue;
      return "only " + plural(bytes, "byte") + " of the sum " + (bytes == 1 ? "is" : "are") +
             " there, and the rest is " + hexadecimal(old) +
             ", which filled out before the call - does a copy take a number of elements? Its size "
             "is in bytes, count * sizeof(int)";
    }
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

  // A shuffle up doubles the value of lane 0, which has no lane below it, in each of five steps.
  // The mistake can be in the sum of a warp, in the sum over the warps, or in both.
  std::string shuffled_up() const {
    if (in_.size() > most_read_often) return "";
    std::uint32_t of_lanes_0 = 0;
    for (std::size_t i = 0; i < in_.size(); i += warp) of_lanes_0 += at(i);
    const std::uint32_t of_warp_0 = sum_of(in_.first(std::min(in_.size(), warp)));
    const std::pair<std::uint32_t, std::string> results[] = {
        {32 * of_lanes_0,
         "32 times " + (in_.size() > warp ? "the sum of in[0], in[32], ..." : element(0))},
        {32 * of_warp_0,
         "32 times the sum of " + element(0) + " to " + element(std::min(in_.size(), warp) - 1)},
        {1024 * at(0), "1024 times in[0]"},
        // a second launch repeats it
        {32768 * at(0), "32768 times in[0]"},
        {1048576 * at(0), "1048576 times in[0]"}};
    for (const auto& [sum, text] : results) {
      if (found_ != sum) continue;
      return "this is " + text +
             ": __shfl_up_sync returns lane 0 its own value, so its sum doubles in each of 5 "
             "steps. Use __shfl_down_sync" +
             (in_.size() > warp ? "" : ", and check that the index of in includes threadIdx.x");
    }
    return "";
  }

  // in[0] alone, or added once per thread of a block.
  std::string first_alone() const {
    if (found_ == at(0))
      return "this is in[0] alone: no other element was added to it - do all threads add, to the "
             "sum of the lower thread, down to a distance of 1? Is a condition with & in "
             "parentheses? Does a last launch read scratch and not in?";
    for (std::uint32_t times = smallest_block; times <= largest_block; times *= 2) {
      if (found_ != times * at(0)) continue;
      return "this is " + std::to_string(times) +
             " times in[0]: does every thread of a block read an element of its own, with "
             "threadIdx.x in the index?" +
             (in_.size() == 1 ? " If a tail fills no vector or no block, does one thread of the "
                                "grid add it, and not every thread?"
                              : "");
    }
    return "";
  }

  // The emulator fills shared memory with -1 before a block starts.
  std::string unwritten_shared() const {
    const std::uint32_t words = expected_ - found_;
    if (words > 2 * largest_block) return "";
    return "this is the sum minus " + std::to_string(words) +
           ": shared memory that was not written holds -1 in every word on the emulator, so " +
           plural(words, "such word") + (words == 1 ? " was" : " were") +
           " added - does every thread store its sum there, 0 if it has no element, and pass a "
           "barrier before another thread reads it?";
  }

  // Two elements, each added several times.
  std::string two_elements() const {
    for (std::uint32_t a = 0; in_.size() == 2 && a <= 32; ++a) {
      for (std::uint32_t b = 0; b <= 256; ++b) {
        if (found_ == a * at(0) + b * at(1))
          return "this is " + std::to_string(a) + " times in[0] plus " + std::to_string(b) +
                 " times in[1]: which sums does each step of the tree add?";
      }
    }
    return "";
  }

  std::string began_at_1() const {
    const std::uint32_t more = found_ - expected_;
    if (more == 0 || more > 2 * largest_block) return "";
    return "this is the sum plus " + std::to_string(more) +
           ": does every sum begin at 0, and does a thread without an element add 0?";
  }

  std::string multiple() const {
    for (std::uint32_t times = 2; times <= largest_block;
         times = times < 4 ? times + 1 : 2 * times) {
      if (found_ != times * expected_) continue;
      const std::string number = std::to_string(times);
      for (std::size_t size = smallest_block; size <= 2 * largest_block; size *= 2) {
        if (blocks_of(size) != times) continue;
        return "this is " + number + " times the sum, and " + number + " blocks of " +
               std::to_string(size) +
               " elements cover in: does each block add all of in, because the index or the loop "
               "does not depend on blockIdx.x?";
      }
      return "this is " + number + " times the sum: is every element added " + number + " times" +
             (std::has_single_bit(times)
                  ? ", or does a shuffle's offset leave the warp, where a lane gets its own value?"
                  : "?") +
             (times == 2 || times == 4
                  ? " Or does a thread's sum begin with an element that its loop adds again?"
                  : "") +
             (in_.size() < smallest_block && times >= smallest_block
                  ? " If these elements fill no vector or no block, does every thread add them?"
                  : "");
    }
    return "";
  }

  // Bits of a number that a narrower type keeps, with zeros or copies of the sign before them.
  static std::uint32_t kept(std::uint32_t value, int bits, bool is_signed) {
    const std::uint32_t low = value << (32 - bits);
    return is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(low) >> (32 - bits))
                     : low >> (32 - bits);
  }

  std::string low_bits() const {
    for (const int bits : {8, 16}) {
      const std::string low = "low " + std::to_string(bits) + " bits of ";
      const std::string type = bits == 8 ? "char" : "short";
      for (const bool is_signed : {false, true}) {
        if (found_ == kept(expected_, bits, is_signed)) {
          return "these are the " + low + "the sum: is an element or a sum read or kept as a " +
                 type + "?";
        }
        std::uint32_t sum = 0;
        for (const std::int32_t value : in_.first(in_.size() > most_read_often ? 0 : in_.size()))
          sum += kept(static_cast<std::uint32_t>(value), bits, is_signed);
        if (found_ == sum) {
          return "this is the sum of the " + low + "every element: is in read as " + type +
                 "s, or is an element stored in one?";
        }
      }
    }
    for (std::size_t block = smallest_block; block <= largest_block && block < in_.size();
         block *= 2) {
      const std::uint32_t sum = sum_of(in_.first(block));
      for (const int bits : {8, 16, 24}) {
        if (found_ != kept(sum, bits, false)) continue;
        return "these are the low " + plural(bits / 8, "byte") + " of the sum of the first " +
               std::to_string(block) +
               " elements: is the size of a copy given in elements instead of bytes?";
      }
    }
    return "";
  }

  // The last launch adds one element of in per block, instead of the blocks' sums.
  std::string of_launch_two() const {
    for (std::size_t per_block = smallest_block; per_block <= 2 * largest_block; per_block *= 2) {
      const std::size_t blocks = blocks_of(per_block);
      // A larger number could be the size of a block.
      if (blocks < 2 || blocks >= smallest_block || found_ != sum_of(in_.first(blocks))) continue;
      return "this is " + sum_text(0, blocks) + ", and " + std::to_string(blocks) + " blocks of " +
             std::to_string(per_block) +
             " elements cover in: does the last launch read in instead of the blocks' "
             "sums in scratch?";
    }
    return "";
  }

  // The sum of one block. Often, all blocks store their sums in out, and only the last sum stays.
  std::string one_block() const {
    if (in_.size() > most_read_often) return "";
    const std::vector<std::uint32_t> before = sums_before();
    for (std::size_t size = smallest_block; size <= 2 * largest_block; size *= 2) {
      for (std::size_t first = size; first < in_.size(); first += size) {
        const std::size_t end = std::min(first + size, in_.size());
        if (found_ != before[end] - before[first]) continue;
        return "this is " + sum_text(first, end) +
               ", the sum of one block alone: do all blocks store their sums in out, so that one "
               "overwrites the others? Store them in scratch[blockIdx.x] and add them up.";
      }
    }
    return "";
  }

  // Each block begins too close to the one before it.
  std::string blocks_too_close() const {
    if (in_.size() > most_read_often) return "";
    const std::vector<std::uint32_t> before = sums_before();
    for (std::size_t size = smallest_block; size <= 2 * largest_block; size *= 2) {
      const std::size_t blocks = blocks_of(size);
      if (blocks < 2) break;
      const std::string grid =
          std::to_string(blocks) + " blocks of " + std::to_string(size) + " elements";
      const std::pair<std::size_t, const char*> distances[] = {
          {0, " all read the same elements: is blockIdx.x missing from the index?"},
          {1, " begin 1 element apart: is blockIdx.x multiplied by blockDim.x in the index?"},
          {blocks,
           " begin gridDim.x elements apart: is blockIdx.x multiplied by gridDim.x in the "
           "index instead of blockDim.x?"}};
      for (const auto& [distance, text] : distances) {
        std::uint32_t sum = 0;
        for (std::size_t b = 0; b < blocks && b * distance < in_.size(); ++b)
          sum += before[std::min(b * distance + size, in_.size())] - before[b * distance];
        if (found_ == sum) return "this is the sum if " + grid + text;
      }
    }
    return "";
  }

  // The sum that the tree of one block gives if the block's size is not a power of two. The tree
  // halves its distance down to 1, or down to a warp, which then adds 64 sums.
  std::uint32_t tree_sum(std::size_t block, bool ends_with_a_warp) const {
    std::vector<std::uint32_t> partial(std::max(block, 2 * warp));
    for (std::size_t i = 0; i < in_.size(); ++i) partial[i] = at(i);
    std::size_t distance = block / 2;
    for (; distance > (ends_with_a_warp ? warp : 0); distance /= 2)
      for (std::size_t i = 0; i < distance; ++i) partial[i] += partial[i + distance];
    return ends_with_a_warp ? std::accumulate(partial.begin(), partial.begin() + 2 * warp, 0u)
                            : partial[0];
  }

  std::string odd_tree() const {
    for (std::size_t block = std::max(in_.size(), smallest_block); block < largest_block; ++block) {
      if (std::has_single_bit(block)) continue;
      if (found_ == tree_sum(block, false) || (block > 2 * warp && found_ == tree_sum(block, true)))
        return "this is the sum of a tree that halves a block whose size is not a power of two: "
               "its "
               "halves do not fit, so sums are lost or added twice. Use a power of two";
    }
    return "";
  }

  // Each thread begins at an index of its own, and its loop advances by too little, so elements are
  // also added by the threads before theirs. The last elements, which fill no vector, may be right.
  std::string step_too_short() const {
    if (in_.size() > 65536) return "";
    for (const std::size_t width : {1, 2, 4}) {
      const std::size_t vectors = in_.size() / width;
      for (std::size_t step = 1; step < std::min(vectors, 2 * largest_block); ++step) {
        if (step > smallest_block && !std::has_single_bit(step)) continue;
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < in_.size(); ++i)
          sum += static_cast<std::uint32_t>(i < vectors * width ? i / width / step + 1 : 1) * at(i);
        if (found_ != sum) continue;
        return "this is the sum if every thread's loop advances by " +
               plural(step, width == 1 ? "element" : "vector") +
               (width == 1 ? "" : " of " + std::to_string(width)) +
               ", so that it reads what later threads read, too: does it advance by all threads of "
               "the grid, gridDim.x * blockDim.x?";
      }
    }
    return "";
  }

  // The last or the first elements are missing, up to a few blocks' worth.
  std::string without_an_end() const {
    constexpr std::size_t most = 4096;
    std::uint32_t without_last = expected_, without_first = expected_;
    for (std::size_t missing = 1; missing < std::min(in_.size(), most); ++missing) {
      without_last -= at(in_.size() - missing);
      without_first -= at(missing - 1);
      const std::string are =
          (missing == 1 ? "element is" : plural(missing, "element") + " are") + " missing";
      const std::size_t part = in_.size() - missing;
      const bool is_small_part = std::has_single_bit(part) && part <= missing;  // see first_part()
      if (found_ == without_last && !is_small_part) {
        return "the last " + are +
               (part % smallest_block != 0
                    ? " - is n the limit of every load, and does the tree reach every sum (a block "
                      "that is halved must be a power of two)?"
                : part == warp
                    ? ", and the first 32 are there - does the tree have the level with a distance "
                      "of 32, and are the sums of all warps and blocks added?"
                : std::has_single_bit(part) && part <= largest_block
                    ? ", and the first " + std::to_string(part) +
                          " are there - does a single block add them? The number of blocks must "
                          "round up, and the sums of all blocks and warps and all levels of the "
                          "tree must be added"
                    : " - does the number of blocks round up" +
                          (are_many_sums(part) ? ", and " + std::string(all_sums) : "?"));
      }
      if (found_ == without_first)
        return "the first " + are +
               " - does a loop add to its thread's sum (+=) in every pass, and not replace it?";
    }
    return "";
  }

  // Only the first elements are added. Their number is a power of two: one warp or block, say.
  std::string first_part() const {
    for (std::size_t part = 2; part < in_.size(); part *= 2) {
      if (found_ != sum_of(in_.first(part))) continue;
      const bool largest = 2 * part > in_.size();
      return "this is the sum of the first " + plural(part, "element") + " only - " +
             (largest               ? "does the kernel handle n that is not a power of two?"
              : are_many_sums(part) ? all_sums
                                    : "are the sums of all blocks added up?");
    }
    return "";
  }

  // True if the first elements may be those whose sums a last block adds, one sum per thread.
  static bool are_many_sums(std::size_t part) {
    return std::has_single_bit(part) && part > largest_block;
  }
  static constexpr const char* all_sums =
      "does the last launch add the sums of all blocks, even if they are more than its threads?";

  // Elements a regular distance apart are the only ones added, or are missing, or are added twice.
  // The last elements, which fill no vector, may be an exception.
  std::string regular() const {
    if (in_.size() > most_read_often) return "";
    for (const std::size_t distance : {2, 4, 8, 16, 32}) {
      std::string text;
      for (std::size_t first = 0; first < distance; ++first) {
        for (const std::size_t end : {in_.size(), in_.size() / distance * distance}) {
          if (end <= first + 2 * distance) continue;  // one or two elements follow no rule
          std::uint32_t sum = 0;
          for (std::size_t i = first; i < end; i += distance) sum += at(i);
          const std::string elements = element(first) + " + " + element(first + distance) +
                                       " + ..., one element in every " + std::to_string(distance);
          if (found_ == sum) return "this is " + elements;
          if (found_ == expected_ - sum) {
            text =
                elements +
                ", is missing: is a component of a vector or a step of an unrolled loop left out?";
          }
          if (found_ == expected_ + sum) text = elements + ", is added twice";
        }
      }
      if (!text.empty()) return text;
    }
    return "";
  }

  // The elements that fill no vector, or no block, are added by many threads instead of one.
  std::string tail_again() const {
    constexpr std::uint32_t most_times = 1 << 12;
    // The most frequent width first: a tail may be that of several widths.
    for (const std::size_t width : {4, 2, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}) {
      const std::size_t first = in_.size() / width * width;
      if (first == 0 || first == in_.size()) continue;
      const std::uint32_t tail = sum_of(in_.subspan(first));
      if (tail == 0) continue;
      // The end of a block's part may also be added twice by a loop that goes too far.
      for (std::uint32_t more = width <= 4 ? 1 : 2; more < most_times; ++more) {
        if (found_ - expected_ != more * tail) continue;
        const bool is_one = first + 1 == in_.size();
        // A single element fits every width, so it shows nothing about vectors.
        if (is_one && more == 1)
          return element(first) +
                 ", the last element, is added twice: does a loop advance by all that the grid "
                 "reads in a pass, does a tree have each level only once, and does one thread of "
                 "the whole grid add a tail that fills no vector?";
        return (is_one ? element(first) : element(first) + " to " + element(in_.size() - 1)) +
               (is_one ? ", the only element that fills no group of "
                       : ", which fill no group of ") +
               std::to_string(width) + (is_one ? ", is" : ", are") + " added " +
               (more == 1 ? "twice" : std::to_string(more + 1) + " times") +
               ": does one thread of the whole grid add this tail, not one of every block and not "
               "every thread" +
               (more == 1 ? ", and does a loop advance by all that the grid reads in a pass?"
                          : "?");
      }
    }
    return "";
  }

  // The elements from some index on are added twice. The last elements, which fill no vector of
  // four, may be an exception.
  std::string end_twice() const {
    if (in_.size() > most_read_often) return "";
    const std::size_t distance = in_.size() > 65536 ? smallest_block : 1;  // of first indices
    for (const std::size_t end : {in_.size(), in_.size() / 4 * 4}) {
      std::uint32_t sum = 0;
      for (std::size_t i = end; i-- > 1;) {
        sum += at(i);
        if (i % distance != 0 || found_ != expected_ + sum) continue;
        if (i + 1 == end && end != in_.size()) continue;
        return (i + 1 == end ? element(i) + " is"
                             : element(i) + " to " + element(end - 1) + " are") +
               " added twice - does a loop advance by all that the grid reads in a pass "
               "(gridDim.x * blockDim.x elements, if a thread reads one), does every block begin "
               "where the one before it ends, and is each thread's sum added once, by a tree or by "
               "atomicAdd?";
      }
    }
    return "";
  }

  // All blocks store their sums in one element, and the last launch adds the unwritten others.
  std::string one_block_stored() const {
    for (std::size_t size = smallest_block; size <= 2 * largest_block; size *= 2) {
      const std::size_t blocks = blocks_of(size);
      if (blocks < 2 || blocks > smallest_block) continue;
      for (std::size_t first = 0; first < in_.size(); first += size) {
        const std::size_t end = std::min(first + size, in_.size());
        const std::uint32_t more = found_ - sum_of(in_.subspan(first, end - first));
        for (std::uint32_t byte = 1; byte < 0xff; ++byte) {
          const std::uint32_t filling = byte * 0x01010101u;
          if (more != static_cast<std::uint32_t>(blocks - 1) * filling) continue;
          return "this is " + sum_text(first, end) + " plus " + hexadecimal(filling) +
                 (blocks == 2 ? "" : " for each other block") +
                 ", which filled scratch before the call: does every block store its sum in an "
                 "element of its own, with blockIdx.x as the index?";
        }
      }
    }
    return "";
  }

  std::string one_element() const {
    if (in_.size() > 65536) return "";
    for (std::size_t i = 0; i < in_.size(); ++i) {
      if (found_ == at(i)) return "this is " + element(i) + " alone";
      if (found_ == expected_ - at(i)) return element(i) + " is missing from the sum";
      if (found_ == expected_ + at(i)) return element(i) + " is added twice";
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

  std::string explain(const problem_call& call, const results& outputs,
                      const further_call& again) const override {
    std::uint32_t found = 0;
    std::memcpy(&found, outputs.at(0).data(), sizeof found);
    const std::string text = reduction_lab::times_added(call, again).text(found);
    constexpr std::size_t large = (1 << 22) * sizeof(std::int32_t);  // further calls take long
    if (!text.empty() || call.buffers.at(0).bytes < large) return text;
    return "no known pattern, but if smaller n are right, look at what changes for such a large n: "
           "a "
           "loop that begins, or repeats, only now (one that loads several vectors per pass)";
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
