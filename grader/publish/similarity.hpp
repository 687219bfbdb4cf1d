// Finds submissions with much common code, beyond the code that all students were given.
//
// idea    Winnowing: every few consecutive words are hashed, and the smallest hash of each window
//         of hashes is kept. Two texts that share a run of words longer than a window therefore
//         share a kept hash. Names are ignored, and so are hashes of the lab's skeletons and
//         contract and, between two submissions, of its published steps.
// watch   The result is a list for a person to review, with the reasons. Short kernels for the same
//         exercise are naturally similar, and no points depend on the list.
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

// Code that is not a submission's own.
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
  double share = 0;  // of the smaller work's own fingerprints
  std::size_t common = 0;
  bool same_text = false;  // byte for byte
};

struct similarities {
  std::vector<alike> pairs, to_steps;  // most similar first
};

// Pairs that share at least half of their fingerprints, and at least eight fingerprints. There are
// at most 60 pairs of each kind. For each work, the most similar step is included, too.
similarities compare_works(const std::vector<work>& all, const given_code& given);

}  // namespace stepwise::publish
