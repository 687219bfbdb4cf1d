// What a log of findings does once for each finding, or at the end.
#include "common/emulator/check/finding_log.hpp"

#include <algorithm>

namespace stepwise::emulator {
namespace {

// Who misses a barrier races with others and reads what is not yet written; a wrong address is
// the mistake where something unwritten is read for it.
int rank_of(finding_kind kind) {
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

}  // namespace

void finding_log::add(const finding_key& key, finding f) {
  const auto [at, is_new] = index_.try_emplace(key, findings_.size());
  if (is_new) {
    findings_.push_back(std::move(f));
  } else {
    f.count = findings_[at->second].count;
    findings_[at->second] = std::move(f);
  }
}

void finding_log::drop_unwritten_of_races() {
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

std::vector<finding> finding_log::take() {
  index_.clear();
  for (finding& f : findings_) share_advice(f);
  std::ranges::stable_sort(findings_, {}, [](const finding& f) { return rank_of(f.kind); });
  return std::move(findings_);
}

void finding_log::share_advice(finding& f) const {
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

}  // namespace stepwise::emulator
