// The finding for lanes that complete each other's warp-wide operations from different calls.
#include <cstdio>

#include "common/emulator/check/barriers.hpp"

namespace stepwise::emulator {
namespace {

const char* function_of(sync_kind kind) {
  switch (kind) {
    case sync_kind::warp_barrier:
      return "__syncwarp()";
    case sync_kind::shfl_up:
      return "__shfl_up_sync()";
    case sync_kind::shfl_down:
      return "__shfl_down_sync()";
    case sync_kind::shfl_bfly:
      return "__shfl_xor_sync()";
    case sync_kind::shfl_idx:
      return "__shfl_sync()";
    case sync_kind::vote_all:
      return "__all_sync()";
    case sync_kind::vote_any:
      return "__any_sync()";
    case sync_kind::vote_uni:
      return "vote.sync.uni";
    case sync_kind::vote_ballot:
      return "__ballot_sync()";
    case sync_kind::match_any32:
    case sync_kind::match_any64:
      return "__match_any_sync()";
    case sync_kind::match_all32:
    case sync_kind::match_all64:
      return "__match_all_sync()";
    case sync_kind::redux_add:
      return "__reduce_add_sync()";
    case sync_kind::redux_min_s32:
    case sync_kind::redux_min_u32:
      return "__reduce_min_sync()";
    case sync_kind::redux_max_s32:
    case sync_kind::redux_max_u32:
      return "__reduce_max_sync()";
    case sync_kind::redux_and:
      return "__reduce_and_sync()";
    case sync_kind::redux_or:
      return "__reduce_or_sync()";
    case sync_kind::redux_xor:
      return "__reduce_xor_sync()";
    case sync_kind::elect:
      return "elect.sync";
    case sync_kind::whole_warp:
      break;
  }
  return "a warp-wide operation";
}

// "lane 0 waits", "lanes 1 to 15 wait", "9 lanes wait"
std::string waiting_lanes(std::uint32_t mask) {
  const int first = first_lane(mask), count = static_cast<int>(count_of(mask));
  if (count == 1) return "lane " + std::to_string(first) + " waits";
  const bool adjacent =
      static_cast<std::uint64_t>(mask) >> first == (std::uint64_t{1} << count) - 1;
  return (adjacent ? "lanes " + std::to_string(first) + " to " + std::to_string(first + count - 1)
                   : std::to_string(count) + " lanes") +
         " wait";
}

}  // namespace

// The compiler may duplicate a call, for example by unrolling a loop, and a __syncwarp() anywhere
// may complete another. Two calls count as the same if their whole chains of lines are the same.
void barrier_check::met_at_two_places(const warp_event& one, const warp_event& other,
                                      std::uint32_t members) {
  if (one.at > other.at) return met_at_two_places(other, one, members);
  const sync_kind kinds[] = {evidence_.code->syncs[one.at->slot].kind,
                             evidence_.code->syncs[other.at->slot].kind};
  if (kinds[0] == sync_kind::whole_warp || kinds[1] == sync_kind::whole_warp) return;
  if (kinds[0] == kinds[1]) {
    if (kinds[0] == sync_kind::warp_barrier) return;
    const std::vector<source_line> here = evidence_.source.chain_of(*evidence_.code, one.at);
    const std::vector<source_line> there = evidence_.source.chain_of(*evidence_.code, other.at);
    if (here.empty() || there.empty() || here == there) return;
  }
  const finding_key k =
      evidence_.key(finding_kind::barrier_divergence, evidence_.place_number(one.at),
                    evidence_.place_number(other.at), 1);
  if (!evidence_.log.is_new(k)) return;
  finding f;
  f.kind = finding_kind::barrier_divergence;
  const auto add = [&](const warp_event& e, sync_kind kind) {
    f.parties.push_back(evidence_.party(e.at, e.warp, first_lane(e.lanes),
                                        std::string("executes ") + function_of(kind)));
    const int line = f.parties.back().at.line;
    return waiting_lanes(e.lanes) + " in " + function_of(kind) +
           (line == 0 ? "" : " at line " + std::to_string(line));
  };
  char mask[16];
  std::snprintf(mask, sizeof mask, "0x%08x", members);
  f.message = add(one, kinds[0]);
  f.message +=
      ", and " + add(other, kinds[1]) + ", and the mask " + mask + " names all of these lanes";
  f.advice =
      "All lanes that a mask names must execute the same call: move it out of the condition or "
      "loop, or give each branch a mask that names only its own lanes.";
  f.origin = evidence_.launch_origin;
  evidence_.log.add(k, std::move(f));
}

}  // namespace stepwise::emulator
