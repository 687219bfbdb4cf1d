// Tests that settings are the same after a trip through the environment, and that bad values count
// as not set.
#include "common/device/engine_settings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

namespace stepwise {
namespace {

// Sets or removes variables as in the environment of a child process.
void apply(const std::vector<std::string>& changes) {
  for (const std::string& change : changes) {
    const auto at = change.find('=');
    if (at == change.npos)
      unsetenv(change.c_str());
    else
      setenv(change.substr(0, at).c_str(), change.substr(at + 1).c_str(), 1);
  }
}

TEST_CASE("settings survive a trip through the environment") {
  engine_settings s;
  s.gpu = "t4";
  s.workers = 3;
  s.time_limit_s = 0.125;
  s.tensor_cores = false;
  s.check = s.late = true;
  s.findings = "/tmp/a b";
  s.record_of = "launch=1 block=0";
  apply(s.environment());
  const engine_settings read = engine_settings::from_environment();
  CHECK(read.environment() == s.environment());
  CHECK(read.gpu == "t4");
  CHECK(read.time_limit_s == 0.125);
  CHECK_FALSE(read.tensor_cores);
  CHECK(read.patience_s == 10);

  apply(engine_settings{}.environment());
  CHECK(std::getenv("STEPWISE_CHECK") == nullptr);
  CHECK(engine_settings::from_environment().environment() == engine_settings{}.environment());
}

TEST_CASE("every setting has one variable") {
  auto names = engine_settings{}.environment();
  CHECK(std::ranges::all_of(names, [](const std::string& name) {
    return name.starts_with("STEPWISE_") && name.find('=') == name.npos;
  }));
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
}

TEST_CASE("a value that cannot be read counts as not set") {
  for (const char* const text : {"-1", "x", "1e99", "", "3x"}) {
    CAPTURE(text);
    setenv("STEPWISE_WORKERS", text, 1);
    setenv("STEPWISE_TIME_LIMIT_S", text, 1);
    setenv("STEPWISE_CHECK", text, 1);
    const engine_settings s = engine_settings::from_environment();
    CHECK(s.workers == 0);
    CHECK(s.time_limit_s == 0);
    CHECK_FALSE(s.check);
  }
  apply(engine_settings{}.environment());
}

}  // namespace
}  // namespace stepwise
