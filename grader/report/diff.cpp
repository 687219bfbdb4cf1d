// Aligns lines by their longest common subsequence, removals first, and merges hunks that touch.
#include "grader/report/diff.hpp"

#include <algorithm>
#include <cstdint>

namespace stepwise {
namespace {

// Lengths of the longest common subsequences of all pairs of tails, (n+1) x (m+1).
class tail_lengths {
 public:
  tail_lengths(const std::string* before, std::size_t n, const std::string* after, std::size_t m)
      : columns_(m + 1), lengths_((n + 1) * (m + 1), 0) {
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = m; j-- > 0;) {
        at(i, j) =
            before[i] == after[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
  }
  std::uint32_t& at(std::size_t i, std::size_t j) { return lengths_[i * columns_ + j]; }

 private:
  std::size_t columns_;
  std::vector<std::uint32_t> lengths_;
};

}  // namespace

std::vector<diff_line> line_diff(const std::vector<std::string>& before,
                                 const std::vector<std::string>& after) {
  std::vector<diff_line> lines;
  const auto both = [&](std::size_t i, std::size_t j) {
    lines.push_back({' ', static_cast<int>(i), static_cast<int>(j), after[j]});
  };
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && before[head] == after[head]) ++head;
  while (tail < shorter - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t n = before.size() - head - tail, m = after.size() - head - tail;
  for (std::size_t i = 0; i < head; ++i) both(i, i);
  // Two huge files that differ everywhere are not worth gigabytes, so all lines are replaced.
  const bool too_large = n != 0 && m > 100'000'000 / n;
  std::size_t i = 0, j = 0;
  if (!too_large) {
    tail_lengths lengths(before.data() + head, n, after.data() + head, m);
    while (i < n && j < m) {
      if (before[head + i] == after[head + j]) {
        both(head + i++, head + j++);
      } else if (lengths.at(i + 1, j) >= lengths.at(i, j + 1)) {
        lines.push_back({'-', static_cast<int>(head + i), -1, before[head + i]});
        ++i;
      } else {
        lines.push_back({'+', -1, static_cast<int>(head + j), after[head + j]});
        ++j;
      }
    }
  }
  for (; i < n; ++i) lines.push_back({'-', static_cast<int>(head + i), -1, before[head + i]});
  for (; j < m; ++j) lines.push_back({'+', -1, static_cast<int>(head + j), after[head + j]});
  for (std::size_t k = 0; k < tail; ++k) {
    both(before.size() - tail + k, after.size() - tail + k);
  }
  // Removals come first within a run of changes, as people expect in a diff.
  for (auto run = lines.begin(); run != lines.end();) {
    run = std::find_if(run, lines.end(), [](const diff_line& l) { return l.kind != ' '; });
    const auto end =
        std::find_if(run, lines.end(), [](const diff_line& l) { return l.kind == ' '; });
    std::stable_partition(run, end, [](const diff_line& l) { return l.kind == '-'; });
    run = end;
  }
  return lines;
}

std::vector<hunk> hunks(const std::vector<diff_line>& lines, std::size_t context) {
  std::vector<hunk> result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].kind == ' ') continue;
    const std::size_t begin = i > context ? i - context : 0;
    const std::size_t end = std::min(lines.size(), i + context + 1);
    if (!result.empty() && begin <= result.back().end) {
      result.back().end = end;
    } else {
      result.push_back({begin, end});
    }
  }
  return result;
}

}  // namespace stepwise
