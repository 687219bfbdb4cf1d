// The environment variables that set the emulated device's options (DESIGN.md lists them).
#pragma once

#include <cstdlib>
#include <optional>
#include <string_view>

#include "common/emulator/time/timer.hpp"

namespace stepwise::emulator {

// A number above 0, or `otherwise`.
inline long environment_number(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value > 0 ? value : otherwise;
}

// The time limit of a kernel in seconds, from STEPWISE_TIME_LIMIT_S; 0: no limit.
inline double time_limit_s() {
  const char* text = std::getenv("STEPWISE_TIME_LIMIT_S");
  const double value = text != nullptr ? std::strtod(text, nullptr) : 0;
  return value > 0 ? value : 0;
}

// STEPWISE_TIMES: "whole" or "sampled", with ",seed=NUMBER" or ",experiments" appended.
inline std::optional<timer::options> timing_wanted() {
  const char* text = std::getenv("STEPWISE_TIMES");
  if (text == nullptr || *text == '\0') return {};
  const std::string_view words = text;
  constexpr std::string_view seed = ",seed=";
  const auto at = words.find(seed);
  return timer::options{words.starts_with("sampled"), words.ends_with(",experiments"),
                        at == words.npos ? 0 : std::strtoull(text + at + seed.size(), nullptr, 10)};
}

// STEPWISE_TENSOR_CORES: "0" if kernels that use tensor cores are not launched.
inline bool allows_tensor_cores() {
  const char* text = std::getenv("STEPWISE_TENSOR_CORES");
  return text == nullptr || std::string_view(text) != "0";
}

// STEPWISE_ADDRESSES: "gpu" for memory as with global_memory::place_as_gpu(), "apart" for the gaps
// that checks need between allocations.
inline std::string_view addresses_wanted() {
  const char* text = std::getenv("STEPWISE_ADDRESSES");
  return text != nullptr ? text : "";
}

}  // namespace stepwise::emulator
