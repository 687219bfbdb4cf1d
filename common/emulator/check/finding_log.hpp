// Gathers findings: the same mistake of many threads is one finding with a count.
#pragma once

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
  finding& add(const finding_key& key, finding f) {
    index_[key] = findings_.size();
    return findings_.emplace_back(std::move(f));
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
  std::vector<finding> take() {
    index_.clear();
    return std::move(findings_);
  }

 private:
  static constexpr std::size_t most = 1000;
  std::map<finding_key, std::size_t> index_;
  std::vector<finding> findings_;
};

}  // namespace stepwise::emulator
