// Which submissions have much code in common, beyond what everybody was given.
//
// idea    Winnowing: a hash for every few consecutive words, of each window of hashes the least is
//         kept; so two texts that share a run of words longer than a window share a kept hash.
//         Names are left out, as are hashes that the lab's skeletons, its contract and, between two
//         submissions, its published steps have.
// watch   It is a list for a person to look at, with the reasons to look. Short kernels that solve
// one
//         exercise are alike by nature, and no points depend on it.
// source  Schleimer, Wilkerson, Aiken: Winnowing (SIGMOD 2003).
// Tested by tests/similarity_test.cpp.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise::publish {

using fingerprints = std::set<std::uint64_t>;
fingerprints fingerprints_of(std::string_view source);

// What is not a submission's own.
struct given_code {
  fingerprints handed_out;  // skeletons and contract
  struct step {
    std::string name;
    fingerprints prints;
  };
  std::vector<step> published;
};

struct work {
  std::string id, source;
};

struct alike {
  std::string a, b;  // ids, or an id and a step
  double share = 0;  // of the smaller one's own fingerprints
  std::size_t common = 0;
  bool same_text = false;  // byte for byte
};

struct similarities {
  std::vector<alike> pairs, to_steps;  // most alike first
};

// Pairs that share at least half, and eight fingerprints; at most 60 of each kind. Of each work the
// step that is most like it.
similarities compare_works(const std::vector<work>& all, const given_code& given);

}  // namespace stepwise::publish
