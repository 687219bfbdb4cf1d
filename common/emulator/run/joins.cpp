// The joins where lanes of a warp wait for each other after a branch, and how long they wait.
#include "common/emulator/run/joins.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace stepwise::emulator {
namespace {

// The time for which lanes wait at a join for a warp that runs slices without reaching it. A warp
// whose polling repeats itself waits for other warps and blocks, which have all run after this many
// slices, or else for the lanes at the join.
constexpr unsigned patience_if_polls_repeat = 64;
// Any other loop may end by itself, or wait in a way that cannot be detected, such as with plain
// loads or while counting its polls. This is a million polls, or 2^26 instructions.
constexpr unsigned most_slices = 8192;
constexpr unsigned weight_of_computing = 8;  // of a slice without a poll, in slices with polls

}  // namespace

void warp::push_ready(const split& s) {
  for (split& other : ready) {
    if (other.at == s.at && other.join == s.join && other.in == s.in) {
      other.mask |= s.mask;
      return;
    }
  }
  ready.push_back(s);
}

int warp::new_join() {
  for (std::size_t k = 0; k < joins.size(); ++k)
    if (joins[k].at == nullptr) return static_cast<int>(k);
  joins.emplace_back();
  return static_cast<int>(joins.size()) - 1;
}

bool warp::release_joins() {
  bool any = false;
  for (join_point& join : joins) {
    if (!join.has_lanes()) continue;
    const split s{join.at, join.arrived, join.parent, join.in};
    join.expected &= ~join.arrived;
    join.arrived = 0;
    if (join.expected == 0) join.at = nullptr;
    push_ready(s);
    any = true;
  }
  return any;
}

void warp::leave_join(int index, std::uint32_t mask) {
  join_point& join = joins[static_cast<std::size_t>(index)];
  join.expected &= ~mask;
  if (join.expected == 0) join.at = nullptr;
  if (join.at == nullptr || join.arrived != join.expected) return;
  const split complete{join.at, join.arrived, join.parent, join.in};
  join.at = nullptr;
  push_ready(complete);
}

void warp::leave_joins(std::uint32_t mask, const frame* in) {
  for (std::size_t k = 0; k < joins.size(); ++k) {
    const join_point& join = joins[k];
    if (join.at != nullptr && (in == nullptr || join.in == in))
      leave_join(static_cast<int>(k), mask);
  }
}

bool join_patience::is_over(warp& w, bool polled) const {
  const auto join = std::ranges::find_if(w.joins, &join_point::has_lanes);
  if (join == w.joins.end()) {
    w.since_arrival = {};
    return false;
  }
  waiting_time& since = w.since_arrival;
  since.weight += polled ? 1 : weight_of_computing;
  // Brent's algorithm: a cycle of any length is found once the saved state lies within it.
  const std::uint64_t state = polled ? state_of(w) : 0;
  const bool repeats = polled && ++since.polling_slices > 1 && state == since.state;
  if (polled && !repeats && std::has_single_bit(since.polling_slices)) since.state = state;
  if (!polled) return since.weight >= most_slices;
  const auto before = releases_.find(join->at);
  const unsigned released = before == releases_.end() ? 0 : std::min(before->second, 31U);
  return since.weight >= (repeats ? patience_if_polls_repeat : most_slices) >> released;
}

void join_patience::note_release(const warp& w) {
  for (const join_point& j : w.joins)
    if (j.has_lanes()) ++releases_[j.at];
}

// A hash of where the warp's lanes are and of the registers of those that can run.
std::uint64_t join_patience::state_of(const warp& w) const {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t word) {
    hash = (std::rotl(hash, 5) ^ word) * 0x9e3779b97f4a7c15;
  };
  for (const split& s : w.ready) {
    add(static_cast<std::uint64_t>(s.at - code_.code.data()));
    add(s.mask);
    const std::byte* registers = s.in->registers;
    const std::uint64_t bytes = code_.functions[s.in->function].register_bytes;
    for (std::uint64_t at = 0; at + 8 <= bytes; at += 8) {
      std::uint64_t word;
      std::memcpy(&word, registers + at, 8);
      add(word);
    }
  }
  return hash;
}

}  // namespace stepwise::emulator
