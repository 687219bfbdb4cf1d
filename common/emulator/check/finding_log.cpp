// The parts of the finding log that run once per finding, or at the end.
#include "common/emulator/check/finding_log.hpp"

#include <algorithm>

namespace stepwise::emulator {
namespace {

// Causes come before effects. A value that is not set explains every branch and address that
// depends on it. A thread that misses a barrier races with others and reads unwritten data. A wrong
// address, a race or a missing wait may also cause reads of unwritten data.
int rank_of(finding_kind kind) {
  switch (kind) {
    case finding_kind::unset_variable:
    case finding_kind::barrier_divergence:
    case finding_kind::exited_at_barrier:
    case finding_kind::deadlock:
      return 0;
    case finding_kind::out_of_bounds:
    case finding_kind::misaligned:
    case finding_kind::use_after_free:
    case finding_kind::wrong_pointer:
      return 1;
    case finding_kind::unwritten_read:
      return 3;
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
    f.count = std::max(f.count, findings_[at->second].count);
    findings_[at->second] = std::move(f);
  }
}

bool finding_log::take_back(const finding_key& key, std::uint64_t occurrences) {
  const auto found = index_.find(key);
  if (found == index_.end()) return false;
  std::uint64_t& count = findings_[found->second].count;
  count -= std::min(count, occurrences);
  return count != 0;
}

std::vector<finding> finding_log::take() {
  index_.clear();
  std::erase_if(findings_, [](const finding& f) { return f.count == 0; });
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

void unwritten_reads::add(const finding_key& key, const read& r) {
  finding_reads& f = *findings_.try_emplace(key).first;
  if (words_.size() >= most_words) {
    ++f.second.not_kept;
    return;
  }
  const auto number = static_cast<std::uint32_t>(f.second.all.size());
  std::uint32_t open = 0;
  for (std::uint64_t k = 0; k < r.bytes; ++k) {
    const std::uint64_t word = (r.at + k) / 4;
    const auto last = (word + 1) * 4 - r.at;  // bytes of the read up to the end of the word
    bool all_written = true;
    for (; k < std::min(last, r.bytes); ++k)
      all_written = all_written && ((r.written >> k) & 1) != 0;
    --k;
    if (all_written) continue;
    words_.emplace(std::pair{word, r.owner}, std::pair{&f, number});
    ++open;
  }
  f.second.all.push_back(r);
  f.second.open_words.push_back(open);
}

bool unwritten_reads::explain(const finding_key& race, std::uint64_t at, std::uint64_t bytes,
                              std::uint32_t owner) {
  bool explains = false;
  for (std::uint64_t word = at / 4; word <= (at + bytes - 1) / 4; ++word) {
    const auto [first, last] = words_.equal_range({word, owner});
    for (auto w = first; w != last;) {
      const auto [f, number] = w->second;
      const finding_key& key = f->first;
      const bool same_line = key.first == race.first || key.first == race.second;
      if (!same_line || key.kernel != race.kernel || key.object != race.object) {
        ++w;
        continue;
      }
      if (--f->second.open_words[number] == 0) ++f->second.explained;
      w = words_.erase(w);
      explains = true;
    }
  }
  return explains;
}

void unwritten_reads::clear() {
  words_.clear();
  findings_.clear();
}

}  // namespace stepwise::emulator
