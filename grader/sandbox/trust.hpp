// Checks that this machine is safe enough for other people's files.
#pragma once

#include <string>

#include "grader/sandbox/sandbox.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {

// For commands that grade many files from others: throws failure(environment), which lists the
// missing layers and why, unless the caller trusts the files.
inline void require_protection(const protections& guards, bool i_trust_these_files) {
  if (guards.complete() || i_trust_these_files) return;
  std::string missing;
  for (const auto& layer : guards.layers) {
    if (!layer.active) missing += "\n" + layer.name + ": " + layer.detail;
  }
  throw failure(exit_code::environment,
                "this machine cannot isolate these files:" + missing +
                    "\nif you trust all of them, use --i-trust-these-files");
}

}  // namespace stepwise
