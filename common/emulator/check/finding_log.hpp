// Gathers findings: the same mistake of many threads is one finding with a count. Code that runs
// per occurrence is here. finding_log.cpp has the rest, which is compiled with less optimisation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/emulator/machine/context.hpp"
#include "common/report/finding.hpp"

namespace stepwise::emulator {

// Two occurrences with equal keys are the same finding.
struct finding_key {
  finding_kind kind;
  std::uint64_t kernel;        // identifies the kernel
  std::int64_t first, second;  // places in its code, -1 for none
  std::uint64_t object;        // address of the memory concerned
  auto operator<=>(const finding_key&) const = default;
};

class finding_log {
 public:
  // True if the key's finding is new and there is room for it: the caller then describes it with
  // add(). Otherwise its count has been increased.
  bool is_new(const finding_key& key, std::uint64_t occurrences = 1) {
    const auto found = index_.find(key);
    if (found == index_.end()) return findings_.size() < most;
    if (findings_[found->second].count == 0) return true;
    findings_[found->second].count += occurrences;
    return false;
  }
  // Like is_new(), for a race. Also true if `between` ranks higher than in the finding that is
  // there, which add() then replaces.
  bool is_new_or_decisive(const finding_key& key, race_between between) {
    const auto found = index_.find(key);
    if (found == index_.end()) return findings_.size() < most;
    finding& known = findings_[found->second];
    ++known.count;
    return between > known.between;
  }
  void add(const finding_key& key, finding f);
  // Takes back occurrences that turned out not to be separate mistakes. Returns false if the
  // finding is unknown, or if it was dropped because no occurrence remains.
  bool take_back(const finding_key& key, std::uint64_t occurrences);
  // The key's finding, or null.
  finding* find(const finding_key& key) {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &findings_[found->second];
  }
  bool empty() const { return findings_.empty(); }
  // Findings that explain others come first. The rest keep the order in which they were found.
  std::vector<finding> take();

 private:
  // Two arrays may be filled before one line reads both. If one of them needs a barrier between its
  // lines, that barrier also serves the other array, so `f` gets the same advice.
  void share_advice(finding& f) const;

  static constexpr std::size_t most = 1000;
  std::map<finding_key, std::size_t> index_;
  std::vector<finding> findings_;
};

// A launch's reads of unwritten bytes, word by word. They are kept until it is known which of them
// are explained by a race at the same line: a read before an unordered write finds nothing written.
class unwritten_reads {
 public:
  struct read {
    std::uint64_t at, bytes;
    std::uint32_t owner;  // 0 for global memory, otherwise the block's index + 1
    std::uint32_t warp;   // in the block
    std::uint32_t block;
    int lane;
    std::uint32_t site;
    const op* op_at;
    std::uint64_t written;  // bit k: byte k has been written
  };
  struct reads_of_finding {
    std::vector<read> all;
    std::vector<std::uint32_t> open_words;  // per read: unwritten words that no race explains
    std::uint64_t explained = 0;            // reads without open words
    std::uint64_t not_kept = 0;  // reads beyond the bound, which are not compared with races
  };

  bool empty() const { return words_.empty(); }
  void add(const finding_key& key, const read& r);
  // Notes a race of two lines at these bytes. Returns whether it explains a read.
  bool explain(const finding_key& race, std::uint64_t at, std::uint64_t bytes, std::uint32_t owner);
  const std::map<finding_key, reads_of_finding>& all() const { return findings_; }
  void clear();

 private:
  static constexpr std::size_t most_words = 1 << 20;  // per launch; about 100 MB
  struct place_hash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint32_t>& p) const {
      return std::hash<std::uint64_t>{}(p.first * 0x9e3779b97f4a7c15u ^ p.second);
    }
  };
  using finding_reads = std::map<finding_key, reads_of_finding>::value_type;
  std::map<finding_key, reads_of_finding> findings_;
  // By word and owner.
  std::unordered_multimap<std::pair<std::uint64_t, std::uint32_t>,
                          std::pair<finding_reads*, std::uint32_t>, place_hash>
      words_;
};

}  // namespace stepwise::emulator
