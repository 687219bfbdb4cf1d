// Finds out how often a wrong sum adds each element.
//
// idea    A sum is linear, so a call whose input is 0 outside a part shows the sum of that part
//         alone. Beginning with in[0], the longest stretch of elements that are added equally often
//         is searched in growing and then shrinking parts. When three such stretches alternate with
//         others, the alternation is taken for one stretch, and is followed in the same way.
// tested  labs/reduction/tests/problem_test.cpp
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/lab/problem.hpp"

namespace stepwise::reduction_lab {

// Elements begin to end - 1. The first `part` of every `period` are added `times` times, and the
// others `rest` times.
struct stretch {
  std::size_t begin, end, period, part;
  std::uint32_t times, rest;

  bool is_plain() const { return part == period; }
  std::uint32_t times_of(std::size_t i) const { return (i - begin) % period < part ? times : rest; }
  std::size_t size() const { return end - begin; }
};

class times_added {
 public:
  times_added(const problem_call& call, const problem::further_call& again)
      : call_(call), again_(again), in_(call.buffers.at(0).bytes / sizeof(std::uint32_t)) {
    std::memcpy(in_.data(), call.buffers[0].data.data(), call.buffers[0].bytes);
  }

  // "in[256] to in[511] are not added". Empty if the sums of the calls do not agree with `found`.
  std::string text(std::uint32_t found) {
    if (sum_of(0, in_.size()) != found) return "";
    for (std::size_t at = 0; at < in_.size() && found_.size() < most_stretches;) {
      add_stretch(at);
      if (is_over_) break;
      join_alternating();
      at = found_.back().end;
    }
    is_whole_ = !found_.empty() && found_.back().end == in_.size();
    // Times that are no count come from a program that does not add.
    const auto is_count = [](std::uint32_t times) {
      return times <= most_times || times == minus_1;
    };
    for (const stretch& s : found_)
      if (!is_count(s.times) || !is_count(s.rest)) return "";
    if (!agrees()) return "";
    return description();
  }

 private:
  static constexpr std::size_t most_stretches = 16;
  static constexpr std::uint32_t most_times = 1 << 20, minus_1 = 0u - 1;

  // The result for an input with these elements alone.
  std::optional<std::uint32_t> sum_of(std::size_t begin, std::size_t end) {
    return result([&](std::size_t i) { return i >= begin && i < end ? in_[i] : 0; });
  }
  template <class Value>
  std::optional<std::uint32_t> result(const Value& value) {
    auto* const to = reinterpret_cast<std::uint32_t*>(call_.buffers[0].data.data());
    for (std::size_t i = 0; i < in_.size(); ++i) to[i] = value(i);
    const auto outputs = again_(call_);
    is_over_ = is_over_ || !outputs;
    if (is_over_) return std::nullopt;
    std::uint32_t sum;
    std::memcpy(&sum, outputs->at(0).data(), sizeof sum);
    return sum;
  }

  // True if elements begin to end - 1 are added as often as `s` would have it if it continued.
  bool continues(const stretch& s, std::size_t begin, std::size_t end) {
    std::uint32_t sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += s.times_of(i) * in_[i];
    return sum_of(begin, end) == sum;
  }

  void extend(stretch& s) {
    std::size_t step = s.period;
    for (bool grows = true; step >= s.period && s.end < in_.size();) {
      const std::size_t end = std::min(s.end + step, in_.size());
      const bool fits = continues(s, s.end, end);
      if (fits) s.end = end;
      grows = grows && fits;
      step = grows ? 2 * step : step / 2;
    }
  }

  // A stretch whose end no call has shown is not added.
  void add_stretch(std::size_t at) {
    const auto times = result([&](std::size_t i) { return i == at ? 1 : 0; });
    if (!times) return;
    stretch s{at, at + 1, 1, 1, *times, 1};
    extend(s);
    if (!is_over_) found_.push_back(s);
  }

  // Joins the last five stretches if the first, third and fifth are alike, and the others are too.
  void join_alternating() {
    if (found_.size() < 5) return;
    const stretch* const last = &found_[found_.size() - 5];
    const auto are_alike = [&](std::size_t a, std::size_t b) {
      return last[a].is_plain() && last[b].is_plain() && last[a].size() == last[b].size() &&
             last[a].times == last[b].times;
    };
    // The end of the input may shorten the fifth one.
    if (!are_alike(0, 2) || !are_alike(1, 3) || !last[4].is_plain() ||
        last[4].times != last[0].times || last[4].size() > last[0].size())
      return;
    stretch s{last[0].begin,  last[4].begin, last[0].size() + last[1].size(),
              last[0].size(), last[0].times, last[1].times};
    extend(s);
    if (s.end < last[4].end) s.end = last[4].end;
    found_.resize(found_.size() - 5);
    found_.push_back(s);
  }

  // True if all that was found, put together, gives the result of one call.
  bool agrees() {
    if (found_.empty()) return false;
    std::uint32_t sum = 0;
    for (const stretch& s : found_)
      for (std::size_t i = s.begin; i < s.end; ++i) sum += s.times_of(i) * in_[i];
    return is_over_ || sum_of(0, found_.back().end) == sum;
  }

  static std::string element(std::size_t i) { return "in[" + std::to_string(i) + "]"; }
  static std::string from_to(std::size_t begin, std::size_t end) {
    return end == begin + 1 ? element(begin) : element(begin) + " to " + element(end - 1);
  }
  static std::string how_often(std::uint32_t times) {
    return times == 0         ? "not added"
           : times == minus_1 ? "subtracted"
           : times == 2       ? "added twice"
                              : "added " + std::to_string(times) + " times";
  }

  // Elements that are added equally often, but not once.
  struct odd_part {
    std::size_t begin, end, period, part;
    std::uint32_t times;

    bool is_one() const { return count() == 1; }
    std::size_t count() const {
      const std::size_t all = end - begin;
      return all / period * part + std::min(all % period, part);
    }
    std::string name() const {
      if (part == period) return from_to(begin, end);
      const std::string first = from_to(begin, begin + part) + ", " +
                                from_to(begin + period, begin + period + part) + ", ...";
      return part > 1 ? first : first + ", " + element(begin + (end - 1 - begin) / period * period);
    }
  };

  std::vector<odd_part> odd_parts() const {
    std::vector<odd_part> parts;
    for (const stretch& s : found_) {
      if (s.times != 1) parts.push_back({s.begin, s.end, s.period, s.part, s.times});
      if (!s.is_plain() && s.rest != 1)
        parts.push_back({s.begin + s.part, s.end, s.period, s.period - s.part, s.rest});
    }
    return parts;
  }

  std::string description() const {
    const auto parts = odd_parts();
    if (parts.empty()) return "";
    if (const std::string text = replaced(parts); !text.empty()) return text;
    if (const std::string text = growing(parts); !text.empty()) return text;
    std::string text;
    std::vector<std::uint32_t> named;
    for (const odd_part& first : parts) {
      if (std::ranges::count(named, first.times) > 0) continue;
      if (named.size() == most_named) return text + ", and so on. " + question(parts);
      text += (named.empty() ? "" : ", and ") + all_added_as_often_as(first, parts);
      named.push_back(first.times);
    }
    return text + (is_whole_ ? ". " : ", and so on. ") + question(parts);
  }
  static constexpr std::size_t most_named = 2;

  static std::string all_added_as_often_as(const odd_part& first,
                                           const std::vector<odd_part>& parts) {
    std::vector<std::string> names;
    for (const odd_part& p : parts)
      if (p.times == first.times) names.push_back(p.name());
    const std::string verb = names.size() == 1 && first.is_one() ? " is " : " are ";
    std::string text = names[0];
    if (names.size() == 2) text += " and " + names[1];
    if (names.size() > 2) text += ", " + names[1] + ", ...";
    return text + verb + how_often(first.times);
  }

  // As many elements are missing as others are added twice.
  std::string replaced(const std::vector<odd_part>& parts) const {
    if (parts.size() < 2 || (parts.size() == 2 && !is_whole_)) return "";
    const bool is_first = parts[0].times == 2;
    const odd_part &twice = parts[is_first ? 0 : 1], &missing = parts[is_first ? 1 : 0];
    if (twice.times != 2 || missing.times != 0 || twice.count() != missing.count()) return "";
    return twice.name() + (twice.is_one() ? " is" : " are") + " added twice, and " +
           missing.name() + (missing.is_one() ? " is" : " are") + " not added" +
           (parts.size() > 2 ? ", and so on" : "") +
           ": is the first index or value used where the second belongs?";
  }

  // Each stretch is added more often than the one before it.
  std::string growing(const std::vector<odd_part>& parts) const {
    if (parts.size() < 2 || parts.back().times > most_times) return "";
    for (std::size_t k = 1; k < parts.size(); ++k)
      if (parts[k].times <= parts[k - 1].times || parts[k].part != parts[k].period) return "";
    return parts[0].name() + (parts[0].is_one() ? " is " : " are ") + how_often(parts[0].times) +
           ", " + parts[1].name() + " " + std::to_string(parts[1].times) + " times" +
           (parts.size() > 2 || !is_whole_ ? ", and so on. " : ". ") + read_again;
  }
  static constexpr const char* read_again =
      "Another block, or a loop's next pass, reads them again: does every loop advance by all that "
      "the grid reads in one pass, and does each block begin where the one before it ends?";

  std::string question(const std::vector<odd_part>& parts) const {
    const odd_part& first = parts[0];
    const auto is_missing = [](const odd_part& p) { return p.times == 0; };
    if (std::ranges::any_of(parts, [](const odd_part& p) { return p.times == minus_1; }))
      return "Which step subtracts a sum, or adds a number with the wrong sign?";
    if (std::ranges::none_of(parts, is_missing))
      return first.is_one() ? "Which loop, block or thread reads it again?" : read_again;
    if (!std::ranges::all_of(parts, is_missing))
      return "Do several blocks or threads read the same elements, because blockIdx.x or "
             "threadIdx.x is missing where a loop begins?";
    const std::size_t length = first.part == first.period ? first.end - first.begin : first.part;
    if (first.begin == length && std::has_single_bit(length))
      return "That is the second half of every " + std::to_string(2 * first.begin) +
             ": does a tree, or the shuffles of a warp, begin with half of what they add, 16 in a "
             "warp?";
    return "Which thread reads " + element(first.begin) +
           ", and which step should add that thread's sum to the total?";
  }

  problem_call call_;
  const problem::further_call& again_;
  std::vector<std::uint32_t> in_;
  std::vector<stretch> found_;
  bool is_over_ = false;   // no further call is possible
  bool is_whole_ = false;  // all elements are in found_
};

}  // namespace stepwise::reduction_lab
