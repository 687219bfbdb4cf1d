// Lists the variables once, for reading and for writing.
#include "common/device/engine_settings.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <string_view>

namespace stepwise {
namespace {

template <class Settings, class Visit>
void each_variable(Settings& s, Visit visit) {
  visit("STEPWISE_GPU", s.gpu);
  visit("STEPWISE_WORKERS", s.workers);
  visit("STEPWISE_TIME_LIMIT_S", s.time_limit_s);
  visit("STEPWISE_PATIENCE_S", s.patience_s);
  visit("STEPWISE_COPY_SEED", s.copy_seed);
  visit("STEPWISE_TENSOR_CORES", s.tensor_cores);
  visit("STEPWISE_ADDRESSES", s.addresses);
  visit("STEPWISE_LATE", s.late);
  visit("STEPWISE_CHECK", s.check);
  visit("STEPWISE_SAMPLE", s.sample);
  visit("STEPWISE_FINDINGS", s.findings);
  visit("STEPWISE_COUNTERS", s.counters);
  visit("STEPWISE_PROFILE", s.profile);
  visit("STEPWISE_TIMES", s.times);
  visit("STEPWISE_EVENT_TIMES", s.event_times);
  visit("STEPWISE_TIMELINE", s.timeline);
  visit("STEPWISE_RECORD", s.record);
  visit("STEPWISE_RECORD_OF", s.record_of);
  visit("STEPWISE_REMOTE_DEVICE", s.remote_device);
  visit("STEPWISE_SUGGEST_CHECK", s.suggest_check);
  visit("STEPWISE_QUIET", s.quiet);
}

void read(std::string_view text, std::string& value) { value = text; }
void read(std::string_view text, bool& value) {
  if (text == "0" || text == "1") value = text == "1";
}
void read(std::string_view text, double& value) {
  char* end = nullptr;
  const double number = std::strtod(text.data(), &end);
  if (*end == '\0' && number > 0 && number < 1e9) value = number;
}
void read(std::string_view text, unsigned& value) {
  char* end = nullptr;
  const long number = std::strtol(text.data(), &end, 10);
  if (end != text.data() && *end == '\0' && number >= 0 && number < 1 << 16)
    value = static_cast<unsigned>(number);
}

std::string text_of(const std::string& value) { return value; }
std::string text_of(bool value) { return value ? "1" : "0"; }
std::string text_of(double value) { return fmt::format("{}", value); }
std::string text_of(unsigned value) { return fmt::format("{}", value); }

}  // namespace

engine_settings engine_settings::from_environment() {
  engine_settings s;
  each_variable(s, [](const char* name, auto& value) {
    const char* const text = std::getenv(name);
    if (text != nullptr && *text != '\0') read(text, value);
  });
  return s;
}

std::vector<std::string> engine_settings::environment() const {
  std::vector<std::string> usual;
  const engine_settings defaults;
  each_variable(defaults, [&](const char*, const auto& value) { usual.push_back(text_of(value)); });
  std::vector<std::string> changes;
  each_variable(*this, [&](const char* name, const auto& value) {
    const std::string text = text_of(value);
    changes.push_back(text == usual[changes.size()] ? name : name + ("=" + text));
  });
  return changes;
}

}  // namespace stepwise
