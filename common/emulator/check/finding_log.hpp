// Gathers findings: the same mistake of many threads is one finding with a count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "common/device/finding.hpp"

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
  void add(const finding_key& key, finding f) {
    const auto [at, is_new] = index_.try_emplace(key, findings_.size());
    if (is_new) {
      findings_.push_back(std::move(f));
    } else {
      f.count = findings_[at->second].count;
      findings_[at->second] = std::move(f);
    }
  }
  // Drops reads of unwritten bytes that are the consequence of a race at the same line.
  void drop_unwritten_of_races() {
    std::vector<bool> drop(findings_.size(), false);
    for (const auto& [key, n] : index_) {
      if (key.kind != finding_kind::unwritten_read) continue;
      for (const auto& [other, m] : index_) {
        drop[n] = drop[n] || (other.kind == finding_kind::race && other.kernel == key.kernel &&
                              other.object == key.object &&
                              (other.first == key.first || other.second == key.first));
      }
    }
    std::vector<finding> kept;
    for (std::size_t n = 0; n < findings_.size(); ++n)
      if (!drop[n]) kept.push_back(std::move(findings_[n]));
    findings_ = std::move(kept);
    index_.clear();
  }
  bool empty() const { return findings_.empty(); }
  // What explains others comes first, else in the order in which they were found.
  std::vector<finding> take() {
    index_.clear();
    for (finding& f : findings_) share_advice(f);
    std::ranges::stable_sort(findings_, {}, [](const finding& f) { return rank_of(f.kind); });
    return std::move(findings_);
  }

 private:
  // Who misses a barrier races with others and reads what is not yet written; a wrong address is
  // the mistake where something unwritten is read for it.
  static int rank_of(finding_kind kind) {
    switch (kind) {
      case finding_kind::barrier_divergence:
      case finding_kind::exited_at_barrier:
      case finding_kind::deadlock:
        return 0;
      case finding_kind::out_of_bounds:
      case finding_kind::misaligned:
      case finding_kind::use_after_free:
      case finding_kind::wrong_pointer:
        return 1;
      default:
        return 2;
    }
  }

  // Two arrays that are filled before one line reads both: what one of them needs between its lines
  // serves the other, too.
  void share_advice(finding& f) const {
    if (f.between != race_between::lanes) return;
    const auto same_end = [](const finding_party& a, const finding_party& b) {
      return a.kernel == b.kernel && a.at.line != 0 && a.at.line == b.at.line &&
             a.at.file == b.at.file && a.action == b.action;
    };
    for (const finding& other : findings_) {
      if (other.between != race_between::warps || other.object.name == f.object.name) continue;
      for (const finding_party& p : f.parties)
        for (const finding_party& q : other.parties)
          if (same_end(p, q)) f.between = other.between, f.advice = other.advice;
    }
  }

  static constexpr std::size_t most = 1000;
  std::map<finding_key, std::size_t> index_;
  std::vector<finding> findings_;
};

}  // namespace stepwise::emulator
