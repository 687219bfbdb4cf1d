// Gathers findings: the same mistake of many threads is one finding with a count. What is done for
// each occurrence is here, the rest in finding_log.cpp, which is optimised less.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "common/report/finding.hpp"

namespace stepwise::emulator {

// What makes two occurrences the same finding.
struct finding_key {
  finding_kind kind;
  std::uint64_t kernel;        // any number that is the kernel's
  std::int64_t first, second;  // places in its code, -1 for none
  std::uint64_t object;        // address of the memory concerned
  auto operator<=>(const finding_key&) const = default;
};

class finding_log {
 public:
  // The finding of a key: null if it is a new one, and there is room for it, so that the caller
  // describes it with add(); else its count has been raised.
  bool is_new(const finding_key& key, std::uint64_t occurrences = 1) {
    const auto found = index_.find(key);
    if (found == index_.end()) return findings_.size() < most;
    findings_[found->second].count += occurrences;
    return false;
  }
  // The same for a race between such threads: true, too, if they ask for more than those of the
  // finding that is there. That one is then replaced by add().
  bool is_new_or_decisive(const finding_key& key, race_between between) {
    const auto found = index_.find(key);
    if (found == index_.end()) return findings_.size() < most;
    finding& known = findings_[found->second];
    ++known.count;
    return between > known.between;
  }
  void add(const finding_key& key, finding f);
  // Drops reads of unwritten bytes that are the consequence of a race at the same line.
  void drop_unwritten_of_races();
  bool empty() const { return findings_.empty(); }
  // What explains others comes first, else in the order in which they were found.
  std::vector<finding> take();

 private:
  // Two arrays that are filled before one line reads both: what one of them needs between its lines
  // serves the other, too.
  void share_advice(finding& f) const;

  static constexpr std::size_t most = 1000;
  std::map<finding_key, std::size_t> index_;
  std::vector<finding> findings_;
};

}  // namespace stepwise::emulator
