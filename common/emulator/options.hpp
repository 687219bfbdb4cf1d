// Reads the time model's options.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "common/emulator/time/timer.hpp"

namespace stepwise::emulator {

// `words` is engine_settings::times: "whole" or "sampled", with ",seed=NUMBER" or ",experiments"
// appended. Empty: kernels are not timed.
inline std::optional<timer::options> timing_wanted(const std::string& words) {
  if (words.empty()) return {};
  const std::string seed = ",seed=";
  const auto at = words.find(seed);
  return timer::options{
      words.starts_with("sampled"), words.ends_with(",experiments"),
      at == words.npos ? 0 : std::strtoull(words.c_str() + at + seed.size(), nullptr, 10)};
}

}  // namespace stepwise::emulator
