// Limits the time for which lanes wait at a join for a warp that runs slices without reaching it.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "common/emulator/run/block.hpp"

namespace stepwise::emulator {

class join_patience {
 public:
  explicit join_patience(const program& code) : code_(code) {}

  // Called after a warp's slice. Returns whether the lanes at its joins must stop waiting. If the
  // warp polls, the limit halves each time that lanes had to be released there.
  bool is_over(warp& w, bool polled) const;
  // The lanes at the warp's joins are about to be released.
  void note_release(const warp& w);

 private:
  std::uint64_t state_of(const warp& w) const;

  const program& code_;
  std::unordered_map<const op*, unsigned> releases_;  // of lanes that waited there for nothing
};

}  // namespace stepwise::emulator
