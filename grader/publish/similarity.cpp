// Hashes runs of words, keeps the smallest hash of each window, and intersects sets.
#include "grader/publish/similarity.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "grader/course/same_code.hpp"

namespace stepwise::publish {
namespace {

constexpr std::size_t run_words = 12, window = 8;  // a copy of 19 words is always found
constexpr std::size_t least_common = 8, most_pairs = 60;
constexpr double least_share = 0.5;

std::uint64_t hash_of(std::uint64_t state, std::string_view word) {
  for (const char c : word) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return (state ^ '\n') * 0x100000001b3;
}

// One word per line, where a name is "$" and its number. The number depends on the preceding text,
// so it is removed.
std::vector<std::uint64_t> words_of_code(std::string_view source) {
  const std::string code = code_without_names(source);
  std::vector<std::uint64_t> words;
  for (std::size_t begin = 0; begin < code.size();) {
    const auto end = std::min(code.find('\n', begin), code.size());
    std::string_view word(code.data() + begin, end - begin);
    if (word.size() > 1 && word[0] == '$') word = "$";
    words.push_back(hash_of(0xcbf29ce484222325, word));
    begin = end + 1;
  }
  return words;
}

std::size_t common_to(const fingerprints& a, const fingerprints& b) {
  std::size_t count = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) ++count;
    const bool first = *i <= *j, second = *j <= *i;
    if (first) ++i;
    if (second) ++j;
  }
  return count;
}

fingerprints without(const fingerprints& a, const fingerprints& b) {
  fingerprints rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
  return rest;
}

void keep_most_alike(std::vector<alike>& all) {
  std::sort(all.begin(), all.end(), [](const alike& x, const alike& y) {
    return x.share != y.share ? x.share > y.share : std::tie(x.a, x.b) < std::tie(y.a, y.b);
  });
  if (all.size() > most_pairs) all.resize(most_pairs);
}

}  // namespace

fingerprints fingerprints_of(std::string_view source) {
  const auto words = words_of_code(source);
  std::vector<std::uint64_t> runs;
  for (std::size_t i = 0; i + run_words <= words.size(); ++i) {
    std::uint64_t h = 0xcbf29ce484222325;
    for (std::size_t k = 0; k < run_words; ++k) h = (h ^ words[i + k]) * 0x9e3779b97f4a7c15 + 1;
    runs.push_back(h ^ (h >> 29));
  }
  fingerprints kept;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto from = runs.begin() + static_cast<std::ptrdiff_t>(i);
    const auto size = std::min(window, runs.size() - i);
    if (size < window && i > 0) break;
    kept.insert(*std::min_element(from, from + static_cast<std::ptrdiff_t>(size)));
  }
  return kept;
}

similarities compare_works(const std::vector<work>& all, const given_code& given) {
  fingerprints known = given.handed_out;
  for (const auto& s : given.published) known.insert(s.prints.begin(), s.prints.end());
  std::vector<fingerprints> own, beyond;  // without the handed-out code; also without the steps
  for (const auto& w : all) {
    const auto prints = fingerprints_of(w.source);
    own.push_back(without(prints, given.handed_out));
    beyond.push_back(without(prints, known));
  }
  similarities found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const bool same = all[i].source == all[j].source;
      const std::size_t common = common_to(beyond[i], beyond[j]);
      const std::size_t least = std::min(beyond[i].size(), beyond[j].size());
      const double share = same         ? 1
                           : least == 0 ? 0
                                        : static_cast<double>(common) / static_cast<double>(least);
      // Two copies of a published step, or of the skeleton, are not evidence of copying.
      if (share >= least_share && common >= least_common)
        found.pairs.push_back({all[i].id, all[j].id, share, common, same});
    }
    alike best;
    for (const auto& s : given.published) {
      const auto prints = without(s.prints, given.handed_out);
      const std::size_t common = common_to(own[i], prints);
      const std::size_t least = std::min(own[i].size(), prints.size());
      const double share =
          least == 0 ? 0 : static_cast<double>(common) / static_cast<double>(least);
      if (share > best.share) best = {all[i].id, s.name, share, common, false};
    }
    if (best.share >= least_share && best.common >= least_common) found.to_steps.push_back(best);
  }
  keep_most_alike(found.pairs);
  keep_most_alike(found.to_steps);
  return found;
}

}  // namespace stepwise::publish
