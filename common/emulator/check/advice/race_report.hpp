// Describes a race: the two accesses, and a way to order them or to make them atomic.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/emulator/check/advice/word_updates.hpp"
#include "common/emulator/check/evidence.hpp"

namespace stepwise::emulator {

class race_report {
 public:
  explicit race_report(evidence& all) : evidence_(all) {}

  // The finding for a lane's access and an access by `other_lanes` of a warp at `other_site`.
  // `was_unwritten`: the access that reads has found bytes that were never written.
  finding of_threads(const lane_access& t, race_between who, std::uint32_t other_warp,
                     std::uint32_t other_lanes, std::uint32_t other_site, tick when,
                     bool other_writes, bool was_unwritten);
  // Adds the finding for a copy or fill and a lane's access in another stream's work.
  void add_copy(std::uint64_t at, bool writes, std::uint32_t warp, unsigned lane,
                std::uint32_t site, tick when, bool other_writes);

  // Adds the finding for a block that exits while `p` may still be made.
  void add_exit(const checked_block& b, const checked_block::peer_access& p);

 private:
  bool same_value(const lane_access& t, int other_lane) const;
  std::string race_advice(race_between between, const lane_access& t,
                          std::uint32_t other_site) const;
  std::string counted_copy_advice(const lane_access& t, std::uint32_t other_warp,
                                  std::uint32_t other_lanes, std::uint32_t other_site, tick when,
                                  bool was_unwritten) const;
  std::string index_advice(const finding& f, const access_site& s) const;
  std::optional<word_update> update_at(std::uint32_t site);
  std::string lost_update_advice(const lane_access& t, race_between who, std::uint32_t other_site);
  class fence_paths;
  struct flag_access;
  std::vector<flag_access> flag_accesses(fence_paths& paths, std::uint32_t function,
                                         std::int32_t data, bool writes);
  std::string missing_fence_advice(const lane_access& t, race_between who,
                                   std::uint32_t other_site);
  std::string fence_words(const lane_access& t, const access_site& earlier, const flag_access& set,
                          const flag_access& test, race_between who);

  evidence& evidence_;
};

}  // namespace stepwise::emulator
